/** Talks to a model: the microphone's sound goes out, the answer is heard and written, and what it costs is shown. */

import { Gateway } from "../src/index.js";

const SCOPES = ["wallet:read", "usage:read", "infer:fast", "infer:realtime", "realtime:connect"];
const MAX_COST_MICROUSD = 1_000_000;
const SAMPLE_RATE = 24_000;

const $ = (id) => document.getElementById(id);
const settings = await (await fetch("settings.json")).json();
const gateway = new Gateway({ url: settings.gatewayUrl, portalUrl: settings.portalUrl });
let microphone, session, playedUntil;

async function start() {
  $("limit").textContent = dollars(MAX_COST_MICROUSD);
  try {
    await gateway.completeSignIn();
    const mayTalk = (await gateway.isSignedIn()) && (await gateway.account()).scopes.includes("realtime:connect");
    document.body.dataset.state = mayTalk ? "in" : "out";
  } catch (error) {
    document.body.dataset.state = "out";
    tell(error.message);
  }
}

/** Listen, in a session that is opened where there is none. */
async function talk() {
  session ??= await open();
  microphone = await listen((sound) => session?.send({ type: "input_audio_buffer.append", audio: base64(sound) }));
  show({ talk: false, send: true, end: true });
}

/** Ask for the answer to what was said. */
async function send() {
  await microphone.close();
  show({ talk: true, send: false, end: true });
  session.send({ type: "input_audio_buffer.commit" });
  session.send({ type: "response.create" });
}

async function open() {
  const opened = await gateway.connectRealtime({ maxCostMicrousd: MAX_COST_MICROUSD });
  // This page says when its turn is over.
  opened.send({ type: "session.update", session: { type: "realtime", audio: { input: { turn_detection: null } } } });
  void hear(opened);
  return opened;
}

async function hear(opened) {
  const speaker = new AudioContext({ sampleRate: SAMPLE_RATE });
  for await (const event of opened) {
    if (event.type === "response.created") begin();
    if (event.type === "response.output_audio_transcript.delta") $("answer").append(event.delta);
    if (event.type === "response.output_audio.delta") play(speaker, bytes(event.delta));
    if (event.type === "service.usage") $("charge").textContent = dollars(event.charge_microusd);
    if (event.type === "error") tell(event.error.message);
  }
  session = undefined;
  show({ talk: true, send: false, end: false });
}

function begin() {
  $("answer").replaceChildren();
  $("answer").hidden = false;
}

/** Play a piece of sound after those that came before it. */
function play(speaker, sound) {
  const samples = Float32Array.from(new Int16Array(sound.buffer), (sample) => sample / 32768);
  const buffer = speaker.createBuffer(1, samples.length, SAMPLE_RATE);
  buffer.copyToChannel(samples, 0);
  const source = new AudioBufferSourceNode(speaker, { buffer });
  source.connect(speaker.destination);
  playedUntil = Math.max(playedUntil ?? 0, speaker.currentTime);
  source.start(playedUntil);
  playedUntil += buffer.duration;
}

/** Open the microphone; `take` gets its sound as it comes. */
async function listen(take) {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } });
  const context = new AudioContext({ sampleRate: SAMPLE_RATE });
  await context.audioWorklet.addModule("recorder.js");
  const recorder = new AudioWorkletNode(context, "recorder");
  recorder.port.onmessage = ({ data }) => take(new Uint8Array(data));
  context.createMediaStreamSource(stream).connect(recorder);
  return {
    close: async () => {
      for (const track of stream.getTracks()) track.stop();
      await context.close();
    },
  };
}

function base64(sound) {
  return btoa(String.fromCharCode(...sound));
}

function bytes(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function show(buttons) {
  for (const [id, isShown] of Object.entries(buttons)) $(id).hidden = !isShown;
}

function tell(text) {
  $("notice").textContent = text;
  $("notice").hidden = false;
}

function dollars(microusd) {
  return `$${(microusd / 1_000_000).toFixed(6)}`;
}

function pressed(act) {
  return () => {
    $("notice").hidden = true;
    act().catch((error) => tell(error.message));
  };
}

$("sign-in").onclick = pressed(() => gateway.signIn({ scopes: SCOPES, deviceName: "Quill, talking" }));
$("talk").onclick = pressed(talk);
$("send").onclick = pressed(send);
$("end").onclick = () => session?.close();

await start();
