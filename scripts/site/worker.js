// Browsers start no workers for pages that are opened as files; the search then runs in a frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => {
        const news = new MessageEvent("message", { data });
        this.dispatchEvent(news);
        if (this.onmessage) this.onmessage(news);
      };
      inside.importScripts = (...urls) =>
        Promise.all(urls.map((script) => this.load(new URL(script, url).href)));
      this.load(url).then(() => {
        for (const data of this.waiting) this.deliver(data);
        this.waiting = null;
      });
    }
    load(url) {
      return new Promise((resolve, reject) => {
        const inside = this.frame.contentDocument;
        const script = inside.createElement("script");
        script.src = url;
        script.onload = resolve;
        script.onerror = reject;
        inside.body.appendChild(script);
      });
    }
    deliver(data) {
      this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
    }
    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.deliver(data);
    }
    terminate() {
      this.frame.remove();
    }
  };
}
