// Chromium with fake audio devices calls the agent by the browser part of web calls, as a visitor of a site does.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readWav } from '@parley/media'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildWeb } from '../scripts/web-build.mjs'
import { clientOf, eventually, hasEnded, waitForRun } from './placed-call.ts'
import { type AtTestEnd, atLastTestEnd } from './recipe.ts'
import { type Serving, startServing } from './serving.ts'
import { requires } from './skip.ts'
import { rms, spokenWide } from './wide-speech.ts'

const SOON_MS = 120_000
/** The greeting is over before the caller speaks. */
const SILENCE_S = 9
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
  '--autoplay-policy=no-user-gesture-required',
]

const chromium = requires({ chromium: 'chromium' })

/** What the page reports, in order. */
interface Report {
  readonly kind: string
  readonly value: unknown
}

/** Reports the events of the call, and how loud the agent's sound is that the page plays. */
const pageOf = (access: object) => `<!doctype html><meta charset="utf-8"><body><script type="module">
import { call } from '/parley-web.js'
const report = (kind, value) => fetch('/report', { method: 'POST', body: JSON.stringify({ kind, value }) })
const audio = document.createElement('audio')
document.body.append(audio)
try {
  const current = await call(${JSON.stringify(access)}, { audio })
  window.current = current
  for (const name of ['state', 'agent', 'user', 'utterance']) current.on(name, value => report(name, value))
  const context = new AudioContext()
  const analyser = context.createAnalyser()
  const began = setInterval(() => {
    if (audio.srcObject === null) return
    clearInterval(began)
    context.createMediaStreamSource(audio.srcObject).connect(analyser)
  }, 50)
  const samples = new Float32Array(analyser.fftSize)
  let loudest = 0
  setInterval(() => {
    analyser.getFloatTimeDomainData(samples)
    loudest = Math.max(loudest, ...samples)
    report('level', loudest)
  }, 1000)
  current.on('utterance', ({ role }) => {
    if (role !== 'user') return
    setTimeout(() => current.sendDigits('1'), 1500)
    setTimeout(() => current.hangUp(), 4000)
  })
} catch (error) {
  report('error', String(error))
}
</script>`

/** Serves the page and collects what it reports. */
async function pageServer(page: string, code: string, atEnd: AtTestEnd) {
  const reports: Report[] = []
  const server = createServer((request, response) => {
    if (request.method === 'POST') {
      let body = ''
      request.on('data', chunk => {
        body += chunk
      })
      request.on('end', () => {
        reports.push(JSON.parse(body))
        response.end()
      })
    } else if (request.url === '/parley-web.js')
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(code)
    else response.writeHead(200, { 'content-type': 'text/html' }).end(page)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  atEnd(() => void server.close())
  return { reports, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

/** 48 kHz mono 16-bit PCM of 16 kHz audio, each sample three times: the fake microphone resamples it anyway. */
function microphoneFile(speech: Int16Array, path: string): void {
  const samples = new Int16Array(SILENCE_S * 16_000 + speech.length + 30 * 16_000)
  samples.set(speech, SILENCE_S * 16_000)
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + 2 * samples.length, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(16_000, 24)
  header.writeUInt32LE(32_000, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(2 * samples.length, 40)
  writeFileSync(path, Buffer.concat([header, Buffer.from(samples.buffer)]))
}

it('the browser part of web calls is one module of less than 40 kB without imports', async () => {
  const code = await buildWeb({ write: false })
  expect(Buffer.byteLength(code)).toBeLessThan(40_000)
  expect(code).not.toMatch(/\bimport\b\s*["'{*]/)
})

describe('a browser', { timeout: 300_000 }, () => {
  const afterAllTests = atLastTestEnd()
  let serving: Serving
  beforeAll(async () => {
    if (!chromium.missing) serving = await startServing(afterAllTests)
  }, 180_000)

  it.skipIf(chromium.missing)(
    `Chromium calls the agent, which understands what is said into the microphone and is heard in the page${chromium.note}`,
    async ({ onTestFinished }) => {
      const client = clientOf(serving)
      const run = await client.runs.create({ body: { agent_id: 'clinic', channel: 'web', mode: 'inbound' } })
      const { run_id } = run
      const directory = mkdtempSync(join(tmpdir(), 'parley-chromium.'))
      const microphone = join(directory, 'microphone.wav')
      microphoneFile(await spokenWide('I would like to book an appointment'), microphone)
      const { reports, url } = await pageServer(pageOf(run.web!), await buildWeb({ write: false }), onTestFinished)
      const browser = spawn(
        'chromium',
        [
          ...FLAGS,
          `--user-data-dir=${join(directory, 'profile')}`,
          `--use-file-for-fake-audio-capture=${microphone}%noloop`,
          '--remote-debugging-port=0',
          url,
        ],
        { stdio: 'ignore' },
      )
      const exited = new Promise(resolve => browser.once('exit', resolve))
      onTestFinished(async () => {
        browser.kill('SIGKILL')
        await exited
        rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
      })
      const values = (kind: string) => reports.filter(report => report.kind === kind).map(({ value }) => value)
      const ended = await waitForRun(client, run_id, hasEnded, SOON_MS)
      expect(values('error')).toEqual([])
      expect(ended, JSON.stringify(reports)).toMatchObject({
        state: 'completed',
        outcome: { kind: 'caller_hung_up', ended_by: 'caller' },
      })
      expect(values('utterance')).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ role: 'agent', text: expect.stringContaining('Hillside Clinic') }),
          expect.objectContaining({ role: 'user', text: expect.stringContaining('book an appointment') }),
        ]),
      )
      expect(values('agent')).toEqual(expect.arrayContaining(['listening', 'speaking']))
      expect(Math.max(...(values('level') as number[]))).toBeGreaterThan(0.02)
      const { items } = await client.runs.timeline({ params: { run_id }, query: {} })
      expect(items).toContainEqual(expect.objectContaining({ kind: 'digits', digits: '1' }))
      const read = () => client.runs.recording({ params: { run_id } })
      const recording = await eventually(read, ({ state }) => state === 'ready', SOON_MS)
      const { channels } = readWav(Buffer.from(await (await fetch(recording.media_url!)).arrayBuffer()))
      expect(channels).toHaveLength(2)
      for (const channel of channels) expect(rms(channel)).toBeGreaterThan(0.002)
    },
  )
})
