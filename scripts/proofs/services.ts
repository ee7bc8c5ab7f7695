import type { CallReport } from '@parley/engine/testing'
import { type Ms, percentiles } from '@parley/kernel'
import { CallerScript, type PhoneVoice } from '@parley/phone'
import { DEMO_CALLER } from '../../packages/cli/src/demo/demo-caller.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'
import { soundOf } from './services/call-recording.ts'
import { type ClinicCaller, ClinicCalls, mapConcurrently } from './services/clinic-calls.ts'
import { courseOf, differences, isClean, isDisturbed } from './services/course.ts'

const AT_ONCE = 4
/** What the caller says. */
const SCRIPT = DEMO_CALLER.flatMap(step => {
  const act = step.type === 'interrupt' ? step.by : step
  return act.type === 'say' ? [act.text] : []
})
/** A call is repeated alone once, because several calls at once can overload the machine, and a real fault occurs again; up to so often while the machine is too slow for it. */
const REPETITIONS = 4
const RECOGNISERS = ['deepgram/nova-3', 'deepgram/flux-general-en', 'assemblyai/universal-streaming-english']
const VOICES = ['elevenlabs/eleven_flash_v2_5', 'cartesia/sonic-2', 'deepgram/aura-2', 'openai/gpt-4o-mini-tts']

/** Recogniser, voice and model, each `vendor/model`. Default model: that of the clinic. */
export type ServicePair = readonly [stt: string, tts: string, llm?: string]

const SIMULATED: ServicePair = ['simulated/tones-1', 'simulated/tones-1']
const PAIRS: readonly ServicePair[] = [
  ...RECOGNISERS.flatMap(stt => VOICES.map(tts => [stt, tts] as const)),
  ['deepgram/nova-3', 'elevenlabs/eleven_flash_v2_5', 'openai/gpt-4.1-mini'],
  ['assemblyai/universal-streaming-english', 'cartesia/sonic-2', 'anthropic/claude-haiku-4-5'],
]

interface ServicesPlan {
  /** Default: the first `count` pairs. */
  readonly pairs?: readonly ServicePair[]
  /** Calls at a time; default 4. */
  readonly atOnce?: number
  /** A planted fault: one more pair, with a wrong API key for its voice. The proof must report it. Default none. */
  readonly withWrongKey?: ServicePair
}

interface Made {
  readonly report: CallReport
  readonly deadAirMs: Ms | null
}

/**
 * Has the demo conversation of the clinic over TLS and SRTP with each pair of recogniser and voice and with each model, by
 * their local stand-ins. The conversation has the same utterances and actions as with the simulated pair.
 */
export async function proveServices(options: ProofOptions, plan: ServicesPlan = {}): Promise<ProofOutcome> {
  const { count, line, progress } = options
  const { pairs = PAIRS.slice(0, count), atOnce = AT_ONCE, withWrongKey } = plan
  const calls = await ClinicCalls.open(demoCaller, atOnce)
  try {
    const all = [SIMULATED, ...pairs, ...(withWrongKey === undefined ? [] : [withWrongKey])]
    const converse = async (pair: ServicePair): Promise<Made> => {
      const [stt, tts, llm] = pair
      // Only the key of the voice is wrong: the call starts and fails when the agent speaks.
      const environment = pair === withWrongKey ? { ELEVENLABS_API_KEY: 'wrong' } : {}
      progress([stt, tts, llm ?? ''].join(' '))
      const { report } = await calls.run({ stt, tts, ...(llm !== undefined && { llm }), environment })
      return { report, deadAirMs: (await soundOf(report))?.deadAir([]) ?? null }
    }
    const first = await mapConcurrently(all, atOnce, converse)
    /** The first of the call and its repetitions that is as it should be, else the last. */
    const settled = async (pair: ServicePair, made: Made, isRight: (report: CallReport) => boolean) => {
      let result = made
      let again = 0
      while (!isRight(result.report) && (again === 0 || (again < REPETITIONS && isDisturbed(result.report)))) {
        again++
        result = await converse(pair)
      }
      return { ...result, again }
    }
    /** Of a call on a machine that was too slow for it, another service must have had the same. */
    const isModel = (report: CallReport) =>
      isClean(courseOf(report), SCRIPT) &&
      (!isDisturbed(report) || first.slice(1).some(other => !differ(report, other.report)))
    const simulated = await settled(SIMULATED, first[0]!, isModel)
    const expected = courseOf(simulated.report)
    const isSimulatedRight = isModel(simulated.report)
    let same = 0
    for (const [index, pair] of all.entries()) {
      const isRight = (report: CallReport) => pair === withWrongKey || !differ(simulated.report, report)
      const result = index === 0 ? simulated : await settled(pair, first[index]!, isRight)
      const different = differences(expected, courseOf(result.report))
      const { report, deadAirMs } = result
      const isSame = Object.keys(different).length === 0
      if (isSame && index > 0) same++
      const [stt, tts, llm = null] = pair
      const p50 = (part: 'e2e' | 'stt' | 'tts') => percentiles(report.latencies.map(turn => turn[part]))?.p50 ?? null
      const latency = { e2e_p50: p50('e2e'), stt_p50: p50('stt'), tts_p50: p50('tts') }
      const row = { stt, tts, llm, same: isSame, again: result.again, different, latency, dead_air_ms: deadAirMs }
      line({ proof: 'services', ...row })
    }
    const ok = isSimulatedRight && same === pairs.length
    return { ok, summary: { pairs: pairs.length, same, simulated: expected.outcome ?? null } }
  } finally {
    await calls.close()
  }
}

function differ(one: CallReport, other: CallReport): boolean {
  return Object.keys(differences(courseOf(one), courseOf(other))).length > 0
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
