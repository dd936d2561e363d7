/** Hands the microphone's sound to the page, in pieces of a tenth of a second. */

const PIECE_SAMPLES = 2400;

class Recorder extends AudioWorkletProcessor {
  #piece = new Int16Array(PIECE_SAMPLES);
  #filled = 0;

  process([[samples]]) {
    for (const sample of samples ?? []) {
      this.#piece[this.#filled++] = Math.max(-1, Math.min(1, sample)) * 32767;
      if (this.#filled === PIECE_SAMPLES) {
        this.port.postMessage(this.#piece.slice().buffer);
        this.#filled = 0;
      }
    }
    return true;
  }
}

registerProcessor("recorder", Recorder);
