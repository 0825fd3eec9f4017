"""Tasks of Gymnasium's environments: a controller of genes, what it senses, and where it ends."""
from __future__ import annotations

import math
import os
import threading
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Mapping, Optional, Protocol, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from .runs import Axis
from .task import Task

Array = NDArray[np.float64]
Policy = Callable[[Array, float], Any]  # observation and seconds since the start, to an action


@dataclass
class Episode:
    """What has happened so far, for functions that read it."""

    env: Any  # without wrappers
    observations: list[Any]  # the first is that of the reset
    infos: list[dict[str, Any]]  # as many
    rewards: list[float] = field(default_factory=list)
    actions: list[Any] = field(default_factory=list)


# A component of the observation, an entry of `info`, or any function of the episode so far.
Reading = Union[int, str, Callable[[Episode], float]]


class Controller(Protocol):
    """Whatever makes policies of genes."""

    def genes(self, actions: Any, observations: Any) -> int:
        """How many it needs for these spaces of Gymnasium's."""

    def policy(self, genotype: Array, actions: Any, observations: Any) -> Policy:
        ...


@dataclass(frozen=True)
class SineGait:
    """Open loop: an actuator does amplitude sin(2 pi (frequency t + phase)) of its range, with three
    genes each, the frequency from 0 to `hertz`. With `together`, all have one frequency, the last
    gene."""

    hertz: float = 2.0
    together: bool = False

    def genes(self, actions: Any, observations: Any) -> int:
        size = len(_range(actions, "sine gaits")[0])
        return 2 * size + 1 if self.together else 3 * size

    def policy(self, genotype: Array, actions: Any, observations: Any) -> Policy:
        middle, half = _range(actions, "sine gaits")
        size = len(middle)
        amplitude, phase = genotype[:size], genotype[size : 2 * size]
        frequency = np.broadcast_to(self.hertz * genotype[2 * size :], (size,))

        def act(observation: Array, seconds: float) -> Any:
            turns = 2 * math.pi * (frequency * seconds + phase)
            return _shaped(actions, middle + half * amplitude * _each(math.sin, turns))

        return act


@dataclass(frozen=True)
class Mlp:
    """Closed loop: a network with tanh units. Genes are its weights and biases, from -`weights` to
    `weights`. It sees the observation, or those components that `inputs` names; where there are
    several actions to choose from, it takes that of the largest output."""

    hidden: Sequence[int] = (8,)
    weights: float = 2.0
    inputs: Optional[Sequence[int]] = None

    def _sizes(self, actions: Any, observations: Any) -> list[int]:
        if observations.__class__.__name__ != "Box":
            raise ValueError(f"a network needs numbers as observations, not {observations}")
        size = int(np.prod(observations.shape))
        for i in self.inputs or ():
            _component(i, size)
        choices = getattr(actions, "n", None)  # of a discrete space
        outputs = len(_range(actions, "networks")[0]) if choices is None else int(choices)
        return [size if self.inputs is None else len(self.inputs), *self.hidden, outputs]

    def genes(self, actions: Any, observations: Any) -> int:
        sizes = self._sizes(actions, observations)
        return sum((before + 1) * after for before, after in zip(sizes, sizes[1:]))

    def policy(self, genotype: Array, actions: Any, observations: Any) -> Policy:
        sizes = self._sizes(actions, observations)
        values = self.weights * (2 * genotype - 1)
        layers = []
        for before, after in zip(sizes, sizes[1:]):
            layer, values = np.split(values, [(before + 1) * after])
            layers.append(layer.reshape(after, before + 1))
        inputs = None if self.inputs is None else np.asarray(self.inputs)

        def act(observation: Array, seconds: float) -> Any:
            x = observation if inputs is None else observation[inputs]
            # Sums of products, not `@`, and the C library's tanh: the same bits on every processor.
            for i, layer in enumerate(layers):
                x = (layer[:, :-1] * x).sum(axis=1) + layer[:, -1]
                if i + 1 < len(layers):
                    x = _each(math.tanh, x)
            if hasattr(actions, "n"):
                return int(np.argmax(x)) + int(getattr(actions, "start", 0))
            middle, half = _range(actions, "networks")
            return _shaped(actions, middle + half * _each(math.tanh, x))

        return act


@dataclass(frozen=True)
class Trajectory:
    """Sensory data (samples, readings): readings at equal intervals. After an early end they stay as
    they were."""

    readings: Sequence[Reading]
    samples: int = 32

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.samples, len(self.readings))

    dtype = np.float32
    renders = False

    def sense(self, episode: Episode, render: Callable[[], NDArray[np.uint8]]) -> NDArray[Any]:
        return np.array([_read(reading, episode) for reading in self.readings], np.float32)

    def together(self, samples: list[NDArray[Any]]) -> NDArray[Any]:
        return np.stack(samples)


@dataclass(frozen=True)
class Pictures:
    """Sensory data (height, width, channels): what is rendered, made smaller. In colour it is the end
    of the episode; otherwise the channels are `samples` grey pictures at equal intervals."""

    height: int = 32
    width: int = 32
    samples: int = 1
    colour: bool = True

    def __post_init__(self) -> None:
        if self.colour and self.samples != 1:
            raise ValueError("a picture in colour has no room for several samples: colour=False")

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.height, self.width, 3 if self.colour else self.samples)

    dtype = np.uint8
    renders = True

    def sense(self, episode: Episode, render: Callable[[], NDArray[np.uint8]]) -> NDArray[Any]:
        small = smaller(render(), self.height, self.width)
        return small if self.colour else small.mean(axis=2, keepdims=True).astype(np.uint8)

    def together(self, samples: list[NDArray[Any]]) -> NDArray[Any]:
        return np.concatenate(samples, axis=2)


def smaller(picture: NDArray[np.uint8], height: int, width: int) -> NDArray[np.uint8]:
    """Means over areas, in whole numbers."""
    if picture.shape[0] < height or picture.shape[1] < width:
        raise ValueError(
            f"pictures of {picture.shape[0]} x {picture.shape[1]} cannot be made {height} x {width}"
        )
    total = picture.astype(np.int64)
    area = np.ones(picture.shape[:2], np.int64)[:, :, None]
    for axis, extent in ((0, height), (1, width)):
        starts = np.arange(extent) * picture.shape[axis] // extent
        total = np.add.reduceat(total, starts, axis=axis)
        area = np.add.reduceat(area, starts, axis=axis)
    return (total // area).astype(np.uint8)


@dataclass(frozen=True)
class Episodes:
    """Evaluates genotypes, one episode after the other: one genotype or a batch. Every process, and
    every thread, has one environment, made when it is first needed."""

    id: str
    controller: Any
    sensory: Any
    readings: tuple[Reading, ...]
    steps: int
    seed: int
    worst_fitness: float
    fitness: Optional[Reading] = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, genotypes: NDArray[np.float32]) -> tuple[Any, Any, Any]:
        array = np.asarray(genotypes)
        if array.ndim == 1:
            return self._one(array)
        rows = [self._one(row) for row in array]
        fitness, sensory, truth = zip(*rows) if rows else ((), (), ())
        return (
            np.array(fitness, np.float32),
            np.array(sensory, self.sensory.dtype).reshape(-1, *self.sensory.shape),
            np.array(truth, np.float32).reshape(-1, len(self.readings)),
        )

    def _one(self, genotype: NDArray[np.float32]) -> tuple[Any, Any, Any]:
        count = self.sensory.shape[0] if not self.sensory.renders else self.sensory.samples
        wanted = _times(self.steps, count)
        samples: list[NDArray[Any]] = []
        env = _environment(self.id, self.options, self.sensory.renders, self.steps)
        for step, episode in self.play(genotype, env):
            if step in wanted:
                samples.append(self.sensory.sense(episode, env.render))
        while len(samples) < count:  # it ended early
            samples.append(self.sensory.sense(episode, env.render))
        total = 0.0
        for reward in episode.rewards:
            total += reward
        if self.fitness is not None:
            total = _read(self.fitness, episode)
        fitness = np.float32(self.worst_fitness if total < self.worst_fitness else total)
        truth = np.array([_read(reading, episode) for reading in self.readings], np.float32)
        return fitness, self.sensory.together(samples), truth

    def play(self, genotype: NDArray[np.float32], env: Any) -> Iterator[tuple[int, Episode]]:
        """Step by step: its number, from 1, and the episode so far."""
        observation, info = env.reset(seed=self.seed)
        policy = self.controller.policy(
            np.asarray(genotype, np.float64), env.action_space, env.observation_space
        )
        seconds = seconds_per_step(env)
        episode = Episode(env.unwrapped, [observation], [info])
        for step in range(1, self.steps + 1):
            seen = observation
            if env.observation_space.__class__.__name__ == "Box":
                seen = np.asarray(observation, np.float64).reshape(-1)
            action = policy(seen, (step - 1) * seconds)
            observation, reward, ended, cut, info = env.step(action)
            episode.observations.append(observation)
            episode.infos.append(info)
            episode.rewards.append(float(reward))
            episode.actions.append(action)
            yield step, episode
            if ended or cut:
                return


@dataclass(frozen=True)
class Film:
    """Draws an episode, for Run.replay: at most so many frames."""

    episodes: Episodes
    frames: int = 100

    def __call__(self, genotype: NDArray[np.float32]) -> list[NDArray[np.uint8]]:
        episodes = self.episodes
        env = _environment(episodes.id, episodes.options, True, episodes.steps)
        every = -(-episodes.steps // self.frames)
        return [
            np.array(env.render(), np.uint8)
            for step, _ in episodes.play(genotype, env)
            if step % every == 0
        ]


def gym(
    id: str,
    *,
    controller: Controller,
    sensory: Union[Trajectory, Pictures],
    ground_truth: Mapping[str, Sequence[Any]],
    worst_fitness: float,
    steps: int = 200,
    seed: int = 0,
    fitness: Optional[Reading] = None,
    name: Optional[str] = None,
    title: str = "",
    version: int = 1,
    defaults: Mapping[str, object] = {},
    **options: Any,
) -> tuple[Task, Episodes]:
    """A task of an environment of Gymnasium's, and the function that evaluates it, which takes a
    batch or one genotype, and goes to other processes:

        task, evaluate = aurora.gym("Ant-v5", controller=aurora.SineGait(),
                                    sensory=aurora.Trajectory(["x_position", "y_position"]),
                                    ground_truth={"x": ("x_position", -3, 3, "m"), ...},
                                    worst_fitness=-1000)
        aurora.run(task, evaluate, iterations=100, out="runs/ant", executor=pool)

    A reading is a component of the observation (its number), an entry of the step's `info` (its
    name), or a function of the `Episode`. `ground_truth` has a reading at the end of the episode and
    its bounds by name. An episode has at most `steps` steps; every one begins with
    reset(seed=`seed`), so that it is a function of the genotype alone. Fitness is the return, or the
    reading `fitness`; what is below `worst_fitness` counts as that. `options` are those of
    gymnasium.make.
    """
    if steps < 1:
        raise ValueError("an episode has at least one step")
    readings, axes = [], []
    for axis, (reading, low, high, *unit) in ground_truth.items():
        readings.append(reading)
        axes.append(Axis(axis, float(low), float(high), *map(str, unit)))
    count = sensory.samples
    if not 1 <= count <= steps:
        raise ValueError(f"there are 1 to {steps} samples in {steps} steps, not {count}")
    # Spaces are looked at without rendering, which may need what this machine has not.
    env = _environment(id, options, False, steps)
    if env.observation_space.__class__.__name__ == "Box":
        size = int(np.prod(env.observation_space.shape))
        for reading in (*readings, *getattr(sensory, "readings", ()), fitness):
            if isinstance(reading, (int, np.integer)):
                _component(int(reading), size)
    episodes = Episodes(
        id,
        controller,
        sensory,
        tuple(readings),
        steps,
        seed,
        worst_fitness,
        fitness,
        dict(options),
    )
    task = Task(
        genes=controller.genes(env.action_space, env.observation_space),
        sensory=sensory.shape,
        ground_truth=axes,
        worst_fitness=worst_fitness,
        name=name or id.lower().replace("/", "-"),
        dtype=sensory.dtype,
        title=title or id,
        version=version,
        defaults=defaults,
        draw=Film(episodes),
    )
    return task, episodes


def seconds_per_step(env: Any) -> float:
    """Of the simulated time; a step is a frame."""
    return 1.0 / float(env.metadata.get("render_fps") or 50)


_mine = threading.local()


def _environment(id: str, options: Mapping[str, Any], renders: bool, steps: int) -> Any:
    try:
        import gymnasium
    except ModuleNotFoundError:
        raise ImportError(
            "environments need Gymnasium, which is not installed: pip install 'aurora-qd[gym]'"
        ) from None
    made: dict[Any, Any] = _mine.__dict__.setdefault("environments", {})
    key = (os.getpid(), id, repr(sorted(options.items())), renders, steps)
    if key not in made:
        if renders and not os.environ.get("DISPLAY"):
            # Without a screen: MuJoCo draws by EGL, pygame nowhere.
            os.environ.setdefault("MUJOCO_GL", "egl")
            os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
        mode = "rgb_array" if renders else None
        made[key] = gymnasium.make(id, render_mode=mode, max_episode_steps=steps, **options)
    return made[key]


def _times(steps: int, count: int) -> set[int]:
    """The steps at which samples are taken; the last is one of them."""
    return {-(-steps * (i + 1) // count) for i in range(count)}


def _read(reading: Reading, episode: Episode) -> float:
    if isinstance(reading, str):
        info = episode.infos[-1]
        if reading not in info:
            known = ", ".join(sorted(info)) or "nothing"
            raise KeyError(f"info has no '{reading}'; it has {known}")
        return float(info[reading])
    if callable(reading):
        return float(reading(episode))
    return float(np.reshape(episode.observations[-1], -1)[reading])


def _component(number: int, size: int) -> None:
    if not 0 <= number < size:
        raise ValueError(f"there is no component {number}: observations have 0 to {size - 1}")


def _range(actions: Any, who: str) -> tuple[Array, Array]:
    """Middle and half of what each actuator takes."""
    if actions.__class__.__name__ != "Box":
        raise ValueError(f"{who} need actuators that take numbers, not {actions}")
    low = np.asarray(actions.low, np.float64).reshape(-1)
    high = np.asarray(actions.high, np.float64).reshape(-1)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise ValueError(f"the actuators of {actions} have no bounds")
    return (low + high) / 2, (high - low) / 2


def _shaped(actions: Any, values: Array) -> NDArray[Any]:
    return values.reshape(actions.shape).astype(actions.dtype)


def _each(function: Callable[[float], float], values: Array) -> Array:
    return np.array([function(value) for value in values.tolist()])
