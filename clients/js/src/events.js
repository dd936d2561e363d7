/** Server-sent events. HTML Living Standard, section 9.2. */

const LINE_END = /\r\n|\n|\r/;

/**
 * Read an event stream: `{data}` for each event, `{comment}` for each comment, as they come.
 * @param {AsyncIterable<string>} chunks @returns {AsyncGenerator<{data?: string, comment?: string}>}
 */
export async function* readEvents(chunks) {
  let data = [];
  for await (const line of linesOf(chunks)) {
    if (line === "") {
      if (data.length) yield { data: data.join("\n") };
      data = [];
    } else if (line.startsWith(":")) {
      yield { comment: line.slice(1) };
    } else if (line === "data" || line.startsWith("data:")) {
      data.push(line.slice(5).replace(/^ /, ""));
    }
  }
}

/** Split text into its lines, whatever ends them; what follows the last line end is not a line. */
async function* linesOf(chunks) {
  let rest = "";
  for await (const chunk of chunks) {
    rest += chunk;
    // A carriage return at the end may be half a line end.
    const half = rest.endsWith("\r") ? "\r" : "";
    const lines = rest.slice(0, rest.length - half.length).split(LINE_END);
    rest = lines.pop() + half;
    yield* lines;
  }
  if (rest.endsWith("\r")) yield rest.slice(0, -1);
}
