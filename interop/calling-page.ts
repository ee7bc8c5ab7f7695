// A page in Chromium that calls agents by the browser part of web calls and measures what it hears.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Page, chromium as playwright } from 'playwright-core'
import { buildWeb } from '../scripts/web-build.mjs'
import type { AtTestEnd } from './recipe.ts'
import { pathOf, requires } from './skip.ts'

export const chromium = requires({ chromium: 'chromium' })

/** For a browser without a window that reaches nothing but this machine. */
export const CHROMIUM_FLAGS: readonly string[] = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const CALL_FLAGS = [...CHROMIUM_FLAGS, '--use-fake-ui-for-media-stream', '--autoplay-policy=no-user-gesture-required']
/** Length of the file behind its last sentence: the device ends with the file. */
const SPARE_S = 60
const RATE = 16_000

/** What the page has noted, in order; times are ms of the page's audio clock. */
export interface PageLog {
  readonly states: readonly string[]
  /** Whether the engine hears the user speak. */
  readonly user: readonly boolean[]
  readonly utterances: readonly { readonly role: string; readonly text: string; readonly interrupted: boolean }[]
  /** Every 10 ms: time, and root mean square of the microphone and of the agent's sound in the page. */
  readonly levels: readonly (readonly [number, number, number])[]
  /** Types of the candidates that the page's media goes by: its own, and the engine's. */
  readonly candidates: readonly string[]
  readonly error: string | null
}

const PAGE = `<!doctype html><meta charset="utf-8"><body><script type="module">
import { call } from '/parley-web.js'
const log = { states: [], user: [], utterances: [], levels: [], candidates: [], error: null }
window.log = log
class Recorded extends RTCPeerConnection {
  constructor(options) { super(options); window.connection = this }
}
window.RTCPeerConnection = Recorded
const media = navigator.mediaDevices
const open = media.getUserMedia.bind(media)
media.getUserMedia = async constraints => (window.microphone = await open(constraints))
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
async function measure(audio) {
  const context = new AudioContext({ sampleRate: 48000 })
  await context.audioWorklet.addModule(URL.createObjectURL(new Blob([WORKLET], { type: 'text/javascript' })))
  const levels = new AudioWorkletNode(context, 'levels', { numberOfInputs: 2 })
  levels.port.onmessage = ({ data }) => log.levels.push(data)
  context.createMediaStreamSource(window.microphone).connect(levels, 0, 0)
  const agent = context.createMediaStreamSource(audio.srcObject)
  agent.connect(levels, 0, 1)
  levels.connect(context.destination)
}
window.begin = async (access, options) => {
  const audio = document.createElement('audio')
  document.body.append(audio)
  try {
    const current = await call(access, { ...options, audio })
    window.current = current
    current.on('state', state => log.states.push(state))
    current.on('user', speaking => log.user.push(speaking))
    current.on('utterance', utterance => log.utterances.push(utterance))
    while (audio.srcObject === null) await new Promise(resolve => setTimeout(resolve, 20))
    await measure(audio)
  } catch (error) {
    log.error = String(error.message ?? error)
  }
}
window.path = async () => {
  const report = [...(await window.connection.getStats()).values()]
  const pair = report.find(({ type, nominated, state }) => type === 'candidate-pair' && nominated && state === 'succeeded')
  const typeOf = id => report.find(entry => entry.id === id)?.candidateType
  log.candidates = pair ? [typeOf(pair.localCandidateId), typeOf(pair.remoteCandidateId)] : []
}
</script>`

interface CallingPage {
  /** Calls with the access of a web run. `options`: those of `call` of the browser part. Resolves when it was answered or refused. */
  begin(access: object, options?: object): Promise<void>
  log(): Promise<PageLog>
  sendDigits(digits: string): Promise<void>
  hangUp(): Promise<void>
}

interface CallingPageOptions {
  /** Path of the file that the microphone plays once; default: the devices of the machine. */
  readonly microphone?: string
  /** Added to the environment of the browser. */
  readonly env?: Readonly<Record<string, string>>
}

/** Starts Chromium on a page that can call; the test's end ends it. */
export async function openCallingPage(
  atTestEnd: AtTestEnd,
  { microphone, env = {} }: CallingPageOptions,
): Promise<CallingPage> {
  const code = await buildWeb({ write: false })
  const server = createServer((request, response) => {
    const isModule = request.url === '/parley-web.js'
    response.writeHead(200, { 'content-type': isModule ? 'text/javascript' : 'text/html' })
    response.end(isModule ? code : PAGE)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  atTestEnd(() => void server.close())
  const devices =
    microphone === undefined
      ? []
      : ['--use-fake-device-for-media-stream', `--use-file-for-fake-audio-capture=${microphone}%noloop`]
  const browser = await playwright.launch({
    executablePath: pathOf('chromium')!,
    args: [...CALL_FLAGS, ...devices],
    ignoreDefaultArgs: ['--mute-audio'],
    env: { ...process.env, ...env } as Record<string, string>,
  })
  atTestEnd(() => browser.close())
  const page: Page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  await page.waitForFunction('window.begin !== undefined')
  return {
    begin: (access, options = {}) =>
      page.evaluate(`window.begin(${JSON.stringify(access)}, ${JSON.stringify(options)})`),
    log: () => page.evaluate<PageLog>('window.path().catch(() => {}).then(() => window.log)'),
    sendDigits: digits => page.evaluate(`window.current.sendDigits('${digits}')`),
    hangUp: () => page.evaluate('window.current?.hangUp()'),
  }
}

/** Path of a WAV file for the fake microphone, at 16 kHz: each element is silence of so many seconds and what is then said. */
export function microphoneFile(
  atTestEnd: AtTestEnd,
  script: readonly { readonly afterS: number; readonly says: Int16Array }[],
): string {
  const directory = mkdtempSync(join(tmpdir(), 'parley-microphone.'))
  atTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const parts = script.flatMap(({ afterS, says }) => [new Int16Array(afterS * RATE), says])
  const samples = Int16Array.from([...parts, new Int16Array(SPARE_S * RATE)].flatMap(part => [...part]))
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + 2 * samples.length, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(RATE, 24)
  header.writeUInt32LE(2 * RATE, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(2 * samples.length, 40)
  const path = join(directory, 'microphone.wav')
  writeFileSync(path, Buffer.concat([header, Buffer.from(samples.buffer)]))
  return path
}
