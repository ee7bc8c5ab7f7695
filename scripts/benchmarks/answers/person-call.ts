import type { Draft } from '@parley/flow'
import { type Ms, NARROWBAND, samplesToMs } from '@parley/kernel'
import { AudioHarness, speaks } from '../../../packages/engine/src/testing/audio-harness.ts'
import { synthesise } from './synthesis.ts'
import type { BenchVoice } from './voices.ts'

const VOICE: BenchVoice = {
  id: 'espeak-ng/m3/en-us',
  identity: 'espeak-ng/m3',
  engine: 'espeak-ng',
  language: 'en',
  name: 'en-us+m3',
  shift: 1,
}
/** What the person says, and what the agent answers. */
const TURNS: readonly (readonly [person: string, agent: string])[] = [
  ['Hello?', 'Hello, this is Parley. I am calling about your appointment on Tuesday morning.'],
  ['Yes, this is Anna Miller, what about it?', 'The doctor is away then. Would Thursday at the same time suit you?'],
  [
    'Thursday is difficult, I have to work until four.',
    'I see. There is a free appointment on Thursday at half past five.',
  ],
  ['That would work. Is it the same doctor?', 'Yes, it is the same doctor and the same practice as before.'],
  [
    'Good. Do I have to bring anything with me?',
    'Please bring your insurance card and the letter of your family doctor.',
  ],
  [
    'And how long will it take, do you know?',
    'It usually takes about half an hour, sometimes a little longer than that.',
  ],
  ['All right, then please book it for me.', 'It is booked for Thursday at half past five. Is there anything else?'],
  ['No, that was all. Thank you very much.', 'You are welcome. Have a nice day, and see you on Thursday.'],
]
const PICKUP_MS: Ms = 500
const THINKING_MS: Ms = 700
const ANSWER_WITHIN_MS: Ms = 20_000
/** Words of the harness's recogniser. */
const WORD_MS: Ms = 300

export const PERSON_TURNS = TURNS.length

/** A call with a person, and what it cost. */
export interface PersonCall {
  /** User and system time of the process: both ends of the call, without the speech of the person. */
  readonly cpuMs: number
  readonly callMs: Ms
  /** The two channels of a recording: what the agent's leg received and sent. */
  readonly received: Int16Array
  readonly sent: Int16Array
  readonly classes: readonly (string | null)[]
}

/**
 * A person whom the agent talks to for this many turns, in virtual time: signalling, media, voice activity, dialogue and flow are real; recogniser, model and
 * voice are scripted. `detects`: a setting has the agent find out what it talks to.
 */
export async function personCall(detects: boolean, turns = PERSON_TURNS): Promise<PersonCall> {
  const said = await Promise.all(TURNS.slice(0, turns).map(([person]) => synthesise(VOICE, person)))
  const before = process.cpuUsage()
  const answers = TURNS.slice(1, turns).map(([, agent]) => speaks(agent))
  const harness = await AudioHarness.open({ draft: draftOf(detects), answers })
  const from = harness.now
  await harness.pass(PICKUP_MS)
  for (const [turn, [person]] of TURNS.slice(0, turns).entries()) {
    const sound = said[turn]!
    harness.caller.play(sound)
    harness.recogniser.willHear(person)
    await harness.pass(Math.max(samplesToMs(sound.length, NARROWBAND), WORD_MS * person.split(' ').length))
    const answered = () => harness.timeline('utterance').filter(({ role }) => role === 'agent').length > turn
    await harness.until(answered, ANSWER_WITHIN_MS, `the answer to "${person}"`)
    await harness.pass(THINKING_MS)
  }
  harness.caller.hangUp()
  await harness.until(() => harness.report !== null, ANSWER_WITHIN_MS, 'the end of the call')
  const { user, system } = process.cpuUsage(before)
  const { left, right } = harness.line.b.captured()
  return {
    cpuMs: (user + system) / 1000,
    callMs: harness.now - from,
    received: left,
    sent: right,
    classes: harness.timeline('contact').map(item => item.class),
  }
}

function draftOf(detects: boolean): Draft {
  return {
    name: 'Parley',
    settings: {
      channels: ['phone'],
      openerWaitsForCallee: true,
      voicemail: detects ? { enabled: true, action: 'hangup' } : { enabled: false },
    },
    providers: {
      stt: { provider: 'simulated', model: 'tones-1' },
      llm: {
        provider: 'simulated_hosted',
        model: { model_id: 'rules-1', provider: 'parley', tier: 'platform-served' },
      },
      tts: { provider: 'simulated', model: 'tones-1' },
    },
    flow: {
      start_node_id: 'talk',
      nodes: [
        { id: 'talk', type: 'conversation', instruction: { type: 'static_text', text: TURNS[0]![1] } },
        { id: 'end', type: 'end', global_node_setting: { condition: 'wants to end' } },
      ],
    },
  }
}
