import { callerVoice, scriptedCaller } from '@parley/contract'
import { CODEC_NAMES, type CodecName } from '@parley/media'
import { parse } from 'yaml'
import { z } from 'zod'
import { LoadtestError } from '../errors.ts'

const MAX_TEXT = 1024 * 1024

const CODECS = [...CODEC_NAMES] as [CodecName, ...CodecName[]]

const seconds = z
  .number()
  .positive()
  .max(7 * 86_400)
const ports = z.strictObject({ from: z.int().min(1024).max(65_534), to: z.int().min(1025).max(65_535) })

/** A caller of the fleet: the script of a test case, and damage to its line. */
const caller = z.strictObject({
  name: z.string().min(1).max(64),
  /** How often this caller is chosen, against the weights of the others. */
  weight: z.number().positive().max(1000).default(1),
  language: z.enum(['en', 'es']).default('en'),
  caller: scriptedCaller,
  /** `TestCase.voice`; default: the first voice of the language on a quiet line. */
  voice: callerVoice.omit({ packet_loss: true }).optional(),
  /** Share of the caller's packets that are lost and concealed. */
  loss: z.number().min(0).max(0.5).default(0),
  /** Mean number of packets that are lost together. */
  loss_burst: z.number().min(1).max(50).default(1),
})

/** One value is held for `hold_s`; several are steps, which end when a goal is missed. */
const steps = z.union([z.number().positive().max(100_000), z.array(z.number().positive().max(100_000)).min(1).max(100)])

const load = z
  .strictObject({
    /** Calls at once; a call that ends is replaced. */
    calls: steps.optional(),
    /** New calls a second. */
    per_second: steps.optional(),
    /** Time in which the load grows evenly to its value, and from step to step. */
    ramp_s: z.number().min(0).max(86_400).default(0),
    hold_s: seconds,
    /** How long calls may go on after the last one has begun; then they are hung up. */
    drain_s: z.number().min(0).max(3600).default(60),
    /** Most calls at once, whatever the rate. */
    most_calls: z.int().min(1).max(100_000).default(10_000),
    /**
     * Longest time after which a caller who was not answered calls again, with `calls`: the first wait is 1 to 2 s, each further one
     * twice as long, and none is shorter than the target's Retry-After. 1: every second.
     */
    retry_most_s: z.number().min(1).max(3600).default(32),
    /** The run ends when this many calls have begun. */
    total: z.int().min(1).max(10_000_000).optional(),
  })
  .refine(({ calls, per_second }) => (calls === undefined) !== (per_second === undefined), {
    message: 'the load has either calls or per_second',
  })

/** What makes a call a failure, besides signalling. */
const checks = z.strictObject({
  /** Longest time from the end of the caller's words to the far end's voice. */
  reply_ms: z.number().positive().max(60_000).optional(),
  /** Shortest gap inside speech that is a failure. */
  gap_ms: z.number().min(20).max(1000).default(40),
  /** Share of the received audio that may be concealed. */
  concealed_percent: z.number().min(0).max(100).optional(),
  /** Longest time from INVITE to the answer. */
  setup_ms: z.number().positive().max(180_000).optional(),
  /** An answered call without any voice of the far end is a failure. */
  audio: z.boolean().default(true),
  /** A turn without a reply is a failure. */
  replies: z.boolean().default(true),
  /** A call is hung up and is a failure when it lasts longer. */
  call_s: z.number().positive().max(86_400).default(180),
})

const limit = z.number().min(0)

/** Most that is allowed in a step; a missed goal makes the exit code 1. */
const goals = z.strictObject({
  failed_percent: limit.max(100).optional(),
  setup_p50_ms: limit.optional(),
  setup_p99_ms: limit.optional(),
  reply_p50_ms: limit.optional(),
  reply_p95_ms: limit.optional(),
  reply_p99_ms: limit.optional(),
  jitter_p99_ms: limit.optional(),
  /** Least share of the calls that the load asked for and that began. */
  begun_percent: limit.max(100).optional(),
})

const generator = z.strictObject({
  processes: z.int().min(1).max(64).default(1),
  /** Cores of the processes, in turn; default: any. Needs taskset. */
  cores: z.array(z.int().min(0).max(1023)).max(64).default([]),
  /** -20 (first) to 19. Below 0 needs a privilege of the system. */
  nice: z.int().min(-20).max(19).default(0),
  media_threads: z.int().min(1).max(64).default(1),
  packet_io: z.enum(['native', 'portable']).optional(),
  /** Ports of all processes together. */
  rtp_ports: ports.default({ from: 32_768, to: 60_999 }),
  /** First port of SIP: a process listens for UDP and TCP on an even one and for TLS on the next; 0: any free ports. */
  sip_port: z.int().min(0).max(65_000).default(0),
  /** Address of the phones. */
  bind: z.string().max(64).default('127.0.0.1'),
  /** A step, or a run, is marked when 0.1 % of the packets that the generator sent in it are later than this. */
  late_ms: z.number().positive().max(99).default(5),
})

const scenario = z
  .strictObject({
    name: z.string().min(1).max(128),
    description: z.string().max(2000).default(''),
    /** `calls`: the phones call the target; `answers`: they answer what calls them; `both`. */
    direction: z.enum(['calls', 'answers', 'both']).default('calls'),
    transport: z.enum(['udp', 'tcp', 'tls']).default('tls'),
    media: z.enum(['srtp', 'srtp-without-tls', 'rtp']).default('srtp'),
    codecs: z.array(z.enum(CODECS)).min(1).max(8).default(['PCMU', 'PCMA']),
    callers: z.array(caller).min(1).max(100),
    /** Time for which an inbound call rings. */
    answer_after_ms: z.int().min(0).max(120_000).default(0),
    load,
    checks: checks.prefault({}),
    goals: goals.prefault({}),
    generator: generator.prefault({}),
  })
  .refine(({ transport, media }) => media !== 'srtp' || transport === 'tls', {
    path: ['media'],
    message: 'SRTP sends its keys over TLS only: use transport tls, media rtp, or srtp-without-tls on purpose',
  })
  .refine(
    ({ callers, codecs }) => codecs.includes('G722') || callers.every(({ voice }) => voice?.channel !== 'wideband'),
    { path: ['codecs'], message: 'a voice with the channel wideband needs the codec G722' },
  )

export type Scenario = z.output<typeof scenario>
export type FleetCaller = Scenario['callers'][number]
export type Goals = Scenario['goals']

/**
 * Reads a scenario. `changes`: values that replace those of the text, such as "load.hold_s=60". Throws "bad_scenario" with every
 * place that is wrong.
 */
export function readScenario(yaml: string, changes: readonly string[] = []): Scenario {
  if (yaml.length > MAX_TEXT) throw new LoadtestError('bad_scenario', 'the scenario is longer than 1 MiB')
  let value: unknown
  try {
    value = parse(yaml, { maxAliasCount: 100 })
  } catch (error) {
    throw new LoadtestError(
      'bad_scenario',
      `the scenario is not YAML: ${error instanceof Error ? error.message : error}`,
    )
  }
  for (const change of changes) applyChange(value, change)
  const read = scenario.safeParse(value)
  if (read.success) return read.data
  const places = read.error.issues.map(({ path, message }) => `${path.join('.') || 'the scenario'}: ${message}`)
  throw new LoadtestError('bad_scenario', places.join('\n'))
}

function applyChange(value: unknown, change: string): void {
  const [, path, text] = /^([^=]+)=(.*)$/s.exec(change) ?? []
  const names = path?.split('.') ?? []
  const last = names.pop()
  if (last === undefined || text === undefined)
    throw new LoadtestError('bad_scenario', `"${change}" is not a change such as load.hold_s=60`)
  let place = value
  for (const name of names) {
    if (!isRecord(place)) throw new LoadtestError('bad_scenario', `${path}: there is no such place in the scenario`)
    if (!Object.hasOwn(place, name)) place[name] = {}
    place = place[name]
  }
  if (!isRecord(place) || last === '__proto__')
    throw new LoadtestError('bad_scenario', `${path}: there is no such place in the scenario`)
  place[last] = parse(text)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
