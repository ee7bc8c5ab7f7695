import { json, stringMap, text, variableName, variableValue } from '@parley/nodes'
import { z } from 'zod'
import { language } from '../values/names.ts'
import { assertion } from './assertion.ts'
import { jsonCondition } from './json-condition.ts'
import { callerVoice, scriptedCaller } from './scripted-caller.ts'

export const caseId = text(1, 64).regex(
  /^[a-z0-9][a-z0-9_-]*$/,
  'a lower-case letter or digit, then lower-case letters, digits, _ -',
)

const frequency = z.enum(['never', 'sometimes', 'often']).default('never')

/** A caller that a model plays. */
const persona = z.strictObject({
  kind: z.literal('persona'),
  goal: text(1, 500),
  brief: text(1, 4000),
  facts: stringMap(text(1, 128), text(0, 512), 100).default({}),
  behavior: z
    .strictObject({
      verbosity: z.enum(['short', 'normal', 'rambling']).default('short'),
      /** Answers that do not help the caller, after which it gives up. */
      patience: z.int().min(1).max(10).default(3),
      interrupts: frequency,
      pauses: frequency,
      backchannels: frequency,
    })
    .prefault({}),
})

const delayMs = z.int().min(0).max(60_000).default(0)

/** How an action answers in a trial; nothing is sent. */
const mock = z.strictObject({
  action_id: text(1, 128),
  /** Conditions on the arguments of the action, all of which must hold. */
  when: z.array(jsonCondition).max(10).default([]),
  respond: z.discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('response'),
      status: z.int().min(100).max(599).default(200),
      body: json.default(null),
      delay_ms: delayMs,
    }),
    z.strictObject({ kind: z.literal('error'), error: z.enum(['timeout', 'network']), delay_ms: delayMs }),
    z.strictObject({
      kind: z.literal('transfer'),
      outcome: z.enum(['answered', 'busy', 'no_answer', 'failed']),
      delay_ms: delayMs,
    }),
  ]),
  /** How often it may answer; default: without limit. */
  times: z.int().min(1).max(100).optional(),
})

/** One conversation of a suite: a simulated caller, what actions answer, and what must hold afterwards. */
export const testCase = z
  .strictObject({
    case_id: caseId,
    name: text(1, 200),
    tags: z.array(text(1, 64)).max(10).default([]),
    mode: z.enum(['text', 'audio']).default('text'),
    language,
    caller: z.discriminatedUnion('kind', [persona, scriptedCaller]),
    voice: callerVoice.nullable().default(null),
    dynamic_variables: stringMap(variableName, variableValue, 100).default({}),
    mocks: z.array(mock).max(50).default([]),
    /** Turns of the caller, after which it hangs up. */
    max_turns: z.int().min(1).max(30).default(12),
    timeout_ms: z.int().min(30_000).max(600_000).default(180_000),
    trials: z.int().min(1).max(30).default(1),
    pass_policy: z.enum(['majority', 'all']).default('majority'),
    blocking: z.boolean().default(true),
    assertions: z.array(assertion).min(1).max(20),
  })
  .refine(({ assertions }) => new Set(assertions.map(({ id }) => id)).size === assertions.length, {
    path: ['assertions'],
    message: 'two assertions have the same id',
  })
  .meta({ id: 'TestCase' })

export type TestCase = z.output<typeof testCase>
