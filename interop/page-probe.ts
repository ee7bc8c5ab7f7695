/** What a page with the probe has noted, in order; times are ms of the page's audio clock. */
export interface PageLog {
  readonly states: readonly string[]
  /** Whether the engine hears the user speak. */
  readonly user: readonly boolean[]
  readonly utterances: readonly { readonly role: string; readonly text: string; readonly interrupted: boolean }[]
  /** Every 10 ms: time, and root mean square of the microphone and of the agent's sound in the page. */
  readonly levels: readonly (readonly [number, number, number])[]
  /** Types of the candidates that the page's media goes by: its own, and the engine's. */
  readonly candidates: readonly string[]
  /** Peer connections that the page has made. */
  readonly connections: number
  readonly error: string | null
}

/**
 * A script that runs before those of a page, whatever client of WebRTC it uses. It notes in `window.log` the levels of the microphone
 * and of the first audio element, from the time that both have sound, and the peer connections.
 */
export const PAGE_PROBE = `(() => {
if (window.log !== undefined || navigator.mediaDevices === undefined) return
const log = { states: [], user: [], utterances: [], levels: [], candidates: [], connections: 0, error: null }
window.log = log
class Recorded extends RTCPeerConnection {
  constructor(...options) {
    super(...options)
    window.connection = this
    log.connections++
  }
}
window.RTCPeerConnection = Recorded
const media = navigator.mediaDevices
const open = media.getUserMedia.bind(media)
let microphone
media.getUserMedia = async constraints => (microphone = await open(constraints))
const WORKLET = \`registerProcessor('levels', class extends AudioWorkletProcessor {
  sums = [0, 0]
  count = 0
  process(inputs) {
    for (const side of [0, 1]) for (const sample of inputs[side][0] ?? []) this.sums[side] += sample * sample
    this.count += 128
    if (this.count < 480) return true
    this.port.postMessage([currentTime * 1000, ...this.sums.map(sum => Math.sqrt(sum / this.count))])
    this.sums = [0, 0]
    this.count = 0
    return true
  }
})\`
let levels
const heard = [null, null]
const sources = [null, null]
async function listen() {
  const streams = [microphone, document.querySelector('audio')?.srcObject]
  if (!streams.every(stream => stream?.getAudioTracks().length > 0)) return
  if (levels === undefined) {
    const context = new AudioContext({ sampleRate: 48000 })
    levels = null
    await context.audioWorklet.addModule(URL.createObjectURL(new Blob([WORKLET], { type: 'text/javascript' })))
    levels = new AudioWorkletNode(context, 'levels', { numberOfInputs: 2 })
    levels.port.onmessage = ({ data }) => log.levels.push(data)
    levels.connect(context.destination)
  }
  if (levels === null) return
  for (const side of [0, 1]) {
    if (streams[side] === heard[side]) continue
    heard[side] = streams[side]
    sources[side]?.disconnect()
    sources[side] = levels.context.createMediaStreamSource(streams[side])
    sources[side].connect(levels, 0, side)
  }
}
setInterval(() => void listen(), 20)
window.path = async () => {
  const report = [...(await window.connection.getStats()).values()]
  const pair = report.find(({ type, nominated, state }) => type === 'candidate-pair' && nominated && state === 'succeeded')
  const typeOf = id => report.find(entry => entry.id === id)?.candidateType
  log.candidates = pair ? [typeOf(pair.localCandidateId), typeOf(pair.remoteCandidateId)] : []
}
})()`
