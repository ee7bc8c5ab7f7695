import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type CallEvent, type CallReport, Engine } from '@parley/engine'
import { ParleyError, randomToken, systemRandom } from '@parley/kernel'
import { type PhoneCall, VirtualPhone } from '@parley/phone'
import { LocalFlite, type TextToSpeech } from '@parley/providers'
import { readSettings } from '../environment.ts'
import { describeEvent } from '../event-lines.ts'
import { processIdentity } from '../identity.ts'
import { parseCommand } from '../usage.ts'

const USAGE = 'parley demo [--json]'
const CALLER_LINE = 'The quick brown fox jumps over the lazy dog.'
const DIGITS = '123#'
const PAUSE_MS = 700

/**
 * One complete call over real sockets: a virtual phone calls the engine over TLS with SRTP, hears the greeting, presses
 * digits, speaks, hears itself, and is sent away with a goodbye. Exit 0 only when the agent said its last line.
 */
export async function demo(args: string[]): Promise<number> {
  const { values } = parseCommand(args, { json: { type: 'boolean', default: false } }, USAGE)
  const settings = readSettings(process.env)
  const say = values.json ? () => {} : (line: string) => void process.stdout.write(`${line}\n`)
  const recordings = join(settings.home, 'recordings')
  await mkdir(recordings, { recursive: true })
  const voice = new LocalFlite()
  const token = randomToken(systemRandom, 26)
  const { tls } = await processIdentity(settings)
  const rtp = { bind: '127.0.0.1', ports: settings.rtpPorts, threads: 1, packetIo: settings.packetIo }
  const began = performance.now()
  let resolveReport: (report: CallReport) => void = () => {}
  const reported = new Promise<CallReport>(resolve => {
    resolveReport = resolve
  })
  const engine = await Engine.start({
    station: { tls, rtp, userAgentName: 'Parley', advertisedHost: 'localhost' },
    routes: [{ name: 'demo', token, security: 'srtp-required' }],
    voice,
    language: 'en',
    recordingPath: id => join(recordings, `demo-${id}.wav`),
    onEvent: (_call, event) => {
      tell(event)
      if (event.type === 'ended') resolveReport(event.report)
    },
  })
  function tell(event: CallEvent): void {
    const line = describeEvent(event)
    if (line !== null) say(`${((performance.now() - began) / 1000).toFixed(2).padStart(6)} s  engine  ${line}`)
  }
  const phone = await VirtualPhone.open({ station: { tls, rtp, userAgentName: 'Parley phone' }, name: 'caller' })
  try {
    const target = `sip:${token}@localhost:${engine.station.port('tls')};transport=tls`
    say(`calling ${target}`)
    const call = await phone.call(target)
    await converse(call, voice, say)
    const end = await call.ended
    // A call that was not answered may never have reached the engine: there is no report to wait for.
    if (!end.answered) throw new ParleyError('demo_failed', `the engine did not answer: ${end.detail}`)
    const report = await reported
    print(report, values.json === true, say)
    return report.run.outcome?.kind === 'completed' ? 0 : 1
  } finally {
    await phone.close()
    await engine.close()
    await voice.close()
  }
}

/** The caller's part. The agent ends the call. */
async function converse(call: PhoneCall, voice: TextToSpeech, say: (line: string) => void): Promise<void> {
  try {
    await call.waitFor('answered', 10_000)
    say(`          phone   ${call.leg.describe()}`)
    await call.untilPause(PAUSE_MS, 20_000)
    await call.press(DIGITS)
    say(`          phone   pressed ${DIGITS}`)
    await call.untilPause(PAUSE_MS, 20_000)
    const chunks: Int16Array[] = []
    for await (const chunk of voice.synthesize({ text: CALLER_LINE, language: 'en' }, AbortSignal.timeout(20_000)))
      chunks.push(chunk.samples)
    for (const chunk of chunks) call.leg.play(chunk)
    say(`          phone   says "${CALLER_LINE}"`)
    await call.ended
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error
    say(`          phone   ${error.message}`)
    call.leg.hangUp()
  }
}

function print(report: CallReport, json: boolean, say: (line: string) => void): void {
  const { run, transport, utterances, digits, end } = report
  const recording = end.media?.recording ?? null
  if (json) {
    const result = {
      run,
      transport,
      utterances,
      digits,
      latency: null,
      recording: recording && {
        path: recording.path,
        channels: recording.channels,
        duration_ms: Math.round(recording.durationMs),
      },
    }
    process.stdout.write(`${JSON.stringify(result)}\n`)
    return
  }
  say('')
  say(`outcome    ${run.state}: ${run.outcome?.kind ?? 'none'}, ended by ${run.outcome?.ended_by ?? 'nobody'}`)
  say(`transport  ${transport?.signalling ?? '-'} + ${transport?.media ?? '-'}`)
  say(`digits     ${digits}`)
  say(`recording  ${recording?.path ?? 'none'} (left: caller, right: agent)`)
}
