import { percentiles } from '@parley/kernel'
import { CallerScript, type PhoneVoice } from '@parley/phone'
import { DEMO_CALLER } from '../../packages/cli/src/demo/demo-caller.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'
import { soundOf } from './services/call-recording.ts'
import { type ClinicCaller, ClinicCalls, inTurns } from './services/clinic-calls.ts'
import { courseOf, differences } from './services/course.ts'

const AT_ONCE = 4
const EARS = ['deepgram/nova-3', 'deepgram/flux-general-en', 'assemblyai/universal-streaming-english']
const VOICES = ['elevenlabs/eleven_flash_v2_5', 'cartesia/sonic-2', 'deepgram/aura-2', 'openai/gpt-4o-mini-tts']

/** Without a model: the clinic's own. */
export type ServicePair = readonly [stt: string, tts: string, llm?: string]

const SIMULATED: ServicePair = ['simulated/tones-1', 'simulated/tones-1']
const PAIRS: readonly ServicePair[] = [
  ...EARS.flatMap(ear => VOICES.map(voice => [ear, voice] as const)),
  ['deepgram/nova-3', 'elevenlabs/eleven_flash_v2_5', 'openai/gpt-4.1-mini'],
  ['assemblyai/universal-streaming-english', 'cartesia/sonic-2', 'anthropic/claude-haiku-4-5'],
]

interface ServicesPlan {
  /** Default all, as many as `count` says. */
  readonly pairs?: readonly ServicePair[]
  /** Calls at a time; default 4. */
  readonly atOnce?: number
  /** One more pair, whose voice's key is wrong: that must show. Default none. */
  readonly withWrongKey?: ServicePair
}

/**
 * The demo conversation of the clinic over TLS and SRTP with each pair of services and with each model, against their stand-ins: all of it is
 * said, heard and done as with the simulated pair.
 */
export async function proveServices(options: ProofOptions, plan: ServicesPlan = {}): Promise<ProofOutcome> {
  const { count, line, progress } = options
  const { pairs = PAIRS.slice(0, count), atOnce = AT_ONCE, withWrongKey } = plan
  const calls = await ClinicCalls.open(demoCaller, atOnce)
  try {
    const all = [SIMULATED, ...pairs, ...(withWrongKey === undefined ? [] : [withWrongKey])]
    const talk = async (pair: ServicePair) => {
      const [stt, tts, llm] = pair
      // The voice's key alone: the call begins, and fails where it would speak.
      const environment = pair === withWrongKey ? { ELEVENLABS_API_KEY: 'wrong' } : {}
      progress([stt, tts, llm ?? ''].join(' '))
      const { report } = await calls.run({ stt, tts, ...(llm !== undefined && { llm }), environment })
      return { report, deadAirMs: (await soundOf(report))?.deadAir([]) ?? null }
    }
    const first = await inTurns(all, atOnce, talk)
    const expected = courseOf(first[0]!.report)
    let same = 0
    for (const [index, pair] of all.entries()) {
      let talked = first[index]!
      let different = differences(expected, courseOf(talked.report))
      // Several calls at once may be more than the machine bears, and words are torn. What is wrong is wrong alone as well.
      const isAgain = Object.keys(different).length > 0 && pair !== withWrongKey
      if (isAgain) {
        talked = await talk(pair)
        different = differences(expected, courseOf(talked.report))
      }
      const { report, deadAirMs } = talked
      const isSame = Object.keys(different).length === 0
      if (isSame && index > 0) same++
      const [stt, tts, llm = null] = pair
      const p50 = (part: 'e2e' | 'stt' | 'tts') => percentiles(report.latencies.map(turn => turn[part]))?.p50 ?? null
      const latency = { e2e_p50: p50('e2e'), stt_p50: p50('stt'), tts_p50: p50('tts') }
      const result = { stt, tts, llm, same: isSame, again: isAgain, different, latency, dead_air_ms: deadAirMs }
      line({ proof: 'services', ...result })
    }
    const ok = expected.outcome === 'completed' && expected.errors.length === 0 && same === pairs.length
    return { ok, summary: { pairs: pairs.length, same, simulated: expected.outcome ?? null } }
  } finally {
    await calls.close()
  }
}

async function demoCaller(voice: PhoneVoice): Promise<ClinicCaller> {
  const script = await CallerScript.prepare(DEMO_CALLER, voice)
  return { follow: call => script.follow(call).then(() => 0) }
}

export const proof: Proof = {
  name: 'services',
  seconds: 600,
  count: PAIRS.length,
  run: options => proveServices(options),
}
