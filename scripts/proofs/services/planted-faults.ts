import type { VoiceAgent } from '@parley/engine'
import type { ExampleServer } from '@parley/examples'
import { type Ms, msToSamples, NARROWBAND, type Samples } from '@parley/kernel'
import type { SpeechStream, SpeechStreamOptions, SpeechToText } from '@parley/providers'
import type { CheckedCall } from './call-check.ts'

/** Faults that the check of a call must report, one of each kind. */
export type PlantedFault =
  | 'a deaf agent'
  | 'an effect without a run'
  | 'sound after an interruption'
  | 'a missing turn'
  | 'a timeline without errors'

const LATE_SOUND_MS: Ms = 300
/** Position before the caller answers the lists. */
const DEAF_FROM: Samples = msToSamples(9000, NARROWBAND)

/** Sends the clinic a request that no action of the call sent. */
export async function bookWithoutRun({ origin }: ExampleServer): Promise<void> {
  const body = JSON.stringify({ patient: '1042' })
  await fetch(`${origin}/clinic/callbacks`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
}

/** An agent whose recogniser returns no words from {@link DEAF_FROM} on, and reports no error. */
export function deafened(agent: VoiceAgent): VoiceAgent {
  const { recogniser } = agent
  const deaf: SpeechToText = {
    id: recogniser.id,
    languages: recogniser.languages,
    readiness: () => recogniser.readiness(),
    open: options => deafStream(recogniser, options),
    close: () => recogniser.close(),
  }
  return { ...agent, recogniser: deaf }
}

function deafStream(recogniser: SpeechToText, options: SpeechStreamOptions): SpeechStream {
  const stream = recogniser.open(options)
  let position: Samples = 0
  return {
    write: (samples, atSample) => {
      position = atSample
      stream.write(samples, atSample)
    },
    finalize: () => stream.finalize(),
    close: () => stream.close(),
    onEvent: listener =>
      stream.onEvent(event => {
        const isUnderstood = event.type === 'partial' || (event.type === 'final' && event.text !== '')
        if (position < DEAF_FROM || !isUnderstood) return listener(event)
        listener({ type: 'speech-started', atSample: position })
      }),
  }
}

/** The record and sound of a call with these faults added. */
export function withPlantedFaults(planted: readonly PlantedFault[], call: CheckedCall): CheckedCall {
  const { report, sound } = call
  const changedSound =
    planted.includes('sound after an interruption') && sound !== null ? sound.agentLater(LATE_SOUND_MS) : sound
  const lastUserTurn = report.utterances.findLast(({ role }) => role === 'user')
  const utterances = planted.includes('a missing turn')
    ? report.utterances.filter(line => line !== lastUserTurn)
    : report.utterances
  const timeline = planted.includes('a timeline without errors')
    ? report.timeline.filter(({ kind }) => kind !== 'error' && kind !== 'turn')
    : report.timeline
  return { ...call, sound: changedSound, report: { ...report, utterances, timeline } }
}
