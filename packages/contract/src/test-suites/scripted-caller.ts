import { text } from '@parley/nodes'
import { z } from 'zod'

/** Default of `level_db`: the level of telephone speech. */
const SPEECH_LEVEL_DB = -20
const PAUSE_BEFORE_MS = 300

const playedMessage = z.strictObject({
  kind: z.enum(['screener_prompt', 'voicemail_greeting']),
  text: text(1, 1000),
  /** A tone of 1 kHz after the text. */
  beep: z.boolean().default(true),
})

/** What must follow this step before the next one; `hears` and `hung_up` extend the specification (decision 0100). */
const expectation = z.strictObject({
  /** Node ids, one of which the conversation is at when the turn is over. */
  lands: z.array(text(1, 128)).max(20).default([]),
  /** Words that the far end says, in this order, in any case and punctuation; the next step waits for each, 10 s at most. */
  hears: z.array(text(1, 256)).max(20).default([]),
  /** The far end hangs up. */
  hung_up: z.boolean().default(false),
})

const scriptStep = z
  .strictObject({
    says: text(1, 1000).optional(),
    plays: playedMessage.optional(),
    /** DTMF digits, pressed when the words begin; extends the specification. */
    presses: z
      .string()
      .regex(/^[0-9*#A-D]{1,32}$/, '1 to 32 of the characters 0-9 * # A-D')
      .optional(),
    /** The caller hangs up after its words; extends the specification. */
    hangs_up: z.boolean().default(false),
    /** Active level of the words, dBov. */
    level_db: z.number().min(-60).max(0).default(SPEECH_LEVEL_DB),
    /**
     * The step begins this long after the caller's own last sound, whatever the far end does. Default: it begins when the far end has
     * answered and then paused for `pause_before_ms`.
     */
    silence_ms: z.int().min(500).max(600_000).optional(),
    pause_before_ms: z.int().min(300).max(5000).default(PAUSE_BEFORE_MS),
    /** The step begins when the far end's answer has lasted this long. */
    interrupt_at_ms: z.int().min(0).max(15_000).optional(),
    expect: expectation.optional(),
  })
  .refine(step => step.says === undefined || step.plays === undefined, {
    path: ['plays'],
    message: 'a step has says or plays, not both',
  })
  .refine(step => step.silence_ms === undefined || step.interrupt_at_ms === undefined, {
    path: ['interrupt_at_ms'],
    message: 'a step has silence_ms or interrupt_at_ms, not both',
  })

/** A caller of a test case that follows a script: `TestCase.caller` of kind `script`. */
export const scriptedCaller = z
  .strictObject({ kind: z.literal('script'), steps: z.array(scriptStep).min(1).max(30) })
  .refine(({ steps }) => steps.slice(0, -1).every(step => !step.hangs_up && step.expect?.hung_up !== true), {
    path: ['steps'],
    message: 'only the last step may hang up or expect the far end to hang up',
  })

/** How a simulated caller sounds: `TestCase.voice`. */
export const callerVoice = z.strictObject({
  voice_id: text(1, 128),
  rate: z.number().min(0.7).max(1.3).default(1),
  channel: z.enum(['pstn', 'wideband']).default('pstn'),
  background: z
    .strictObject({
      kind: z.enum(['none', 'room', 'car', 'street', 'babble', 'music']).default('none'),
      /** Speech level over noise level. */
      snr_db: z.number().min(0).max(40).default(40),
    })
    .default({ kind: 'none', snr_db: 40 }),
  /** The far end's audio comes back. */
  echo: z
    .strictObject({ level_db: z.number().min(-40).max(-3), delay_ms: z.int().min(20).max(600) })
    .nullable()
    .default(null),
  /** Share of packets that are lost on the way to the agent and concealed; extends the specification. */
  packet_loss: z.number().min(0).max(0.5).default(0),
})

export type ScriptedCaller = z.output<typeof scriptedCaller>
