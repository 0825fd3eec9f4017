"""The extension module, for those parts of the package that need it. Reading runs does not."""
from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import _core as core
else:

    class _Missing(ModuleType):
        def __init__(self, why: ImportError):
            super().__init__("aurora_qd._core")
            self.__dict__["_why"] = why

        def __getattr__(self, name: str) -> object:
            if name.startswith("__"):
                raise AttributeError(name)
            raise ImportError(
                f"this needs the extension module of aurora_qd, which is not there ({self._why}): "
                "`pip install .` in a checkout builds it; reading runs works without"
            )

    try:
        from . import _core as core
    except ImportError as error:
        core = _Missing(error)

__all__ = ["core"]
