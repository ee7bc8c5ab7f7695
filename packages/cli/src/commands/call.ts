import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { readWav } from '@parley/media'
import { type PhoneCall, VirtualPhone } from '@parley/phone'
import { readSettings } from '../environment.ts'
import { describeLegEvent } from '../event-lines.ts'
import { processIdentity } from '../identity.ts'
import { overridesOf } from '../resolve-entries.ts'
import { parseCommand, UsageError } from '../usage.ts'
import { SpokenLines } from './spoken-lines.ts'

const USAGE =
  'parley call URI [--say TEXT]… [--language L] [--tones] [--wav FILE] [--digits DIGITS] [--record FILE] [--seconds N] [--ring-seconds N]'
const HELP = [
  '',
  'Calls a SIP URI with a virtual phone and prints what happens on the call. Exit code 0: it was answered and ended normally.',
  '',
  '  --say TEXT        speaks TEXT when the other party has spoken and paused; repeat it for several lines',
  '  --language L      language of --say, such as en or es; default en',
  '  --tones           speaks and hears by the built-in tones although a local voice and recogniser are there',
  '  --wav FILE        plays a WAV file (8000 Hz) when the call is answered',
  '  --digits DIGITS   sends digits (0-9 * # A-D) a second after the answer',
  '  --record FILE     writes a WAV file: the phone on the left channel, the other party on the right',
  '  --seconds N       hangs up after N seconds; default 60',
  '  --ring-seconds N  gives up when the call is not answered within N seconds; default 30',
]
const DIGITS_AFTER_MS = 1000

/** Exit code 0: the call was answered and ended normally; 1: otherwise. */
export async function call(args: string[]): Promise<number> {
  const { positionals, values } = parseCommand(
    args,
    {
      say: { type: 'string', multiple: true, default: [] },
      language: { type: 'string', default: 'en' },
      tones: { type: 'boolean', default: false },
      wav: { type: 'string' },
      digits: { type: 'string' },
      record: { type: 'string' },
      seconds: { type: 'string', default: '60' },
      'ring-seconds': { type: 'string', default: '30' },
    },
    USAGE,
    HELP,
  )
  const [target] = positionals
  if (target === undefined || positionals.length !== 1) throw new UsageError(`usage: ${USAGE}`)
  if (values.digits !== undefined && !/^[0-9*#A-D]{1,64}$/.test(values.digits))
    throw new UsageError('--digits takes 1 to 64 of the characters 0-9 * # A-D')
  const seconds = positive('--seconds', values.seconds)
  const ringSeconds = positive('--ring-seconds', values['ring-seconds'])
  const audio = values.wav === undefined ? null : await readMono(values.wav)
  const settings = readSettings(process.env)
  const printLine = (line: string) => void process.stdout.write(`${line}\n`)
  const { say, language, tones } = values
  const phone = await VirtualPhone.open({
    endpoint: {
      bind: settings.sipBind,
      tls: (await processIdentity(settings)).tls,
      overrides: overridesOf(settings.resolve),
      rtp: { bind: settings.rtpBind, ports: settings.rtpPorts, threads: 1, packetIo: settings.packetIo },
      userAgentName: 'Parley phone',
    },
  })
  let lines: SpokenLines | null = null
  try {
    if (say.length > 0) lines = await SpokenLines.prepare(say, { settings, language, tones, printLine })
    const placed = await phone.call(target, {
      ringTimeoutMs: ringSeconds * 1000,
      ...(values.record !== undefined && { recording: { path: resolve(values.record), swapChannels: true } }),
    })
    placed.leg.onEvent(event => {
      const line = describeLegEvent(event, placed.leg.format)
      if (line !== null) printLine(line)
    })
    const hangUp = () => placed.leg.hangUp()
    process.once('SIGINT', hangUp)
    process.once('SIGTERM', hangUp)
    const answered = await placed.waitFor('answered', (ringSeconds + 40) * 1000).then(
      () => true,
      () => false,
    )
    if (answered) {
      printLine(placed.leg.describe())
      if (audio !== null) placed.leg.play(audio)
      if (values.digits !== undefined) pressLater(placed, values.digits)
      setTimeout(hangUp, seconds * 1000).unref()
      await lines?.sayOn(placed, language, printLine)
    }
    const end = await placed.ended
    if (end.media?.recording) printLine(`recording ${end.media.recording.path}`)
    if (!end.answered) printLine(`not answered: ${end.detail}`)
    return end.answered && end.cause === 'bye' ? 0 : 1
  } finally {
    await phone.close()
    await lines?.close()
  }
}

function pressLater(call: PhoneCall, digits: string): void {
  const press = async () => {
    try {
      await call.press(digits)
    } catch (error) {
      process.stdout.write(`the digits were not sent: ${error instanceof Error ? error.message : String(error)}\n`)
    }
  }
  setTimeout(() => void press(), DIGITS_AFTER_MS).unref()
}

async function readMono(path: string): Promise<Int16Array> {
  const wav = readWav(await readFile(path))
  const [first] = wav.channels
  if (wav.sampleRate !== 8000 || first === undefined)
    throw new UsageError(
      `--wav ${path}: the sample rate must be 8000 Hz, not ${wav.sampleRate} Hz; convert it with "sox IN -r 8000 -c 1 OUT"`,
    )
  return first
}

function positive(name: string, text: string): number {
  const value = Number(text)
  if (!(value > 0 && value <= 86_400)) throw new UsageError(`${name} takes a number of seconds above 0, at most 86400`)
  return value
}
