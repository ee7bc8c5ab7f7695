import { e164, text } from '@parley/nodes'
import { z } from 'zod'
import { runState } from '../agents/agent-summary.ts'
import { operation } from '../operation.ts'
import { agentId, uuid, version } from '../values/names.ts'
import { listQuery, page } from '../values/page.ts'
import { instant, timestamp } from '../values/time.ts'
import { run, runChannel, runMetadata, runMode, runVariables } from './run.ts'

export const byRunId = z.strictObject({ run_id: uuid })

const MODES: Readonly<Record<z.output<typeof runChannel>, readonly z.output<typeof runMode>[]>> = {
  phone: ['outbound'],
  web: ['inbound'],
  cloud: ['task', 'chat', 'background'],
}

/** A TURN or STUN server, as `RTCIceServer` of a browser. */
const iceServer = z
  .strictObject({ urls: z.array(text(1)), username: text(1).optional(), credential: text(1).optional() })
  .meta({ id: 'IceServer' })

const webKind = z.enum(['direct', 'livekit'])

/**
 * How a browser takes part in a web run. direct: `url` is the address for its offer (WHIP, RFC 9725), `token` the bearer token, good
 * for one offer. livekit: `url` and `token` are what a LiveKit client connects with.
 */
const webAccess = z
  .strictObject({
    kind: webKind,
    url: z.url(),
    token: text(1),
    expires_at: timestamp,
    /** Empty for livekit, whose server names its own. */
    ice_servers: z.array(iceServer),
  })
  .meta({ id: 'WebAccess' })

/** `web`: of runs of the channel web. */
const createdRun = run.extend({ web: webAccess.optional() }).meta({ id: 'CreatedRun' })

const createRun = operation({
  id: 'runs.create',
  method: 'POST',
  path: '/api/v1/runs',
  summary:
    'Start a run of an agent: place a phone call (needs can_dial or admin), let a browser call, or start a chat or a task',
  role: 'member',
  idempotency: 'required_header',
  params: null,
  query: null,
  body: z
    .strictObject({
      agent_id: agentId,
      /** Default: the head. */
      version: version.optional(),
      channel: runChannel,
      mode: runMode,
      /** The number to call; required for phone runs, refused for others. */
      to: e164.optional(),
      /** The caller number: an imported number; default: that of the publication. Only for phone runs. */
      from: e164.optional(),
      /** How the browser connects; default: livekit if the platform has a LiveKit server, else direct. Only for web runs. */
      web_kind: webKind.optional(),
      dynamic_variables: runVariables.default({}),
      metadata: runMetadata.nullable().default(null),
    })
    .refine(({ channel, mode }) => MODES[channel].includes(mode), {
      message: 'does not fit the channel: phone has mode outbound; web has inbound; cloud has task, chat or background',
      path: ['mode'],
    })
    .refine(({ channel, to }) => (channel === 'phone') === (to !== undefined), {
      message: 'is required for channel phone and must be absent for other channels',
      path: ['to'],
    })
    .refine(({ channel, from }) => channel === 'phone' || from === undefined, {
      message: 'is only for channel phone; leave it out',
      path: ['from'],
    })
    .refine(({ channel, web_kind }) => channel === 'web' || web_kind === undefined, {
      message: 'is only for channel web; leave it out',
      path: ['web_kind'],
    }),
  output: createdRun,
  statuses: [201, 200],
  refusals: {
    forbidden: ['can_dial'],
    not_found: [],
    conflict: ['agent_archived', 'agent_not_published', 'test_publication'],
    capability_unavailable: [
      'channel_not_supported',
      'livekit_not_configured',
      'telephony_missing',
      'trunk_unavailable',
      'number_unavailable',
      'secret_unavailable',
      'model_not_ready',
      'voice_not_ready',
      'admission_disabled',
      'tenant_not_configured',
    ],
    policy_denied: ['destination_not_allowed', 'spend_cap'],
    rate_limited: ['daily_call_limit', 'concurrent_capacity'],
  },
})

const getRun = operation({
  id: 'runs.get',
  method: 'GET',
  path: '/api/v1/runs/{run_id}',
  summary: 'Read a run: state, outcome, latency, analysis',
  role: 'viewer',
  idempotency: 'none',
  params: byRunId,
  query: null,
  body: null,
  output: run,
  statuses: [200],
  refusals: {},
})

const DISPOSITIONS = /^[a-z][a-z0-9_-]{0,127}(,[a-z][a-z0-9_-]{0,127}){0,31}$/
/** A comma-separated list of contacts. */
export const contactList = z
  .string()
  .regex(
    /^(human|voicemail|ivr|unknown|not_applicable)(,(human|voicemail|ivr|unknown|not_applicable)){0,4}$/,
    'of human, voicemail, ivr, unknown, not_applicable; with commas',
  )

const listRuns = operation({
  id: 'runs.list',
  method: 'GET',
  path: '/api/v1/runs',
  summary:
    'List runs (calls, chats and tasks), newest first: the live, completed or failed ones, by agent, channel, time, disposition, contact, success or test run',
  role: 'viewer',
  idempotency: 'none',
  params: null,
  query: listQuery({
    agent_id: agentId.optional(),
    channel: runChannel.optional(),
    state: runState.optional(),
    /** Bounds of `created_at`: `after` is inclusive, `before` is exclusive. */
    after: instant.optional(),
    before: instant.optional(),
    /** Up to 32, separated by commas. */
    disposition: z
      .string()
      .regex(DISPOSITIONS, 'up to 32 words separated by commas, each a lower-case letter, then letters, digits, _ -')
      .optional(),
    /** Up to 5, separated by commas. */
    contact: contactList.optional(),
    /** Runs whose success is unknown match neither value. */
    successful: z.boolean().optional(),
    version: version.optional(),
    /** True: only test runs; false: no test runs; absent: both. */
    test: z.boolean().optional(),
    test_run_id: uuid.optional(),
  }),
  body: null,
  output: page(run),
  statuses: [200],
  refusals: {},
})

const cancelRun = operation({
  id: 'runs.cancel',
  method: 'POST',
  path: '/api/v1/runs/{run_id}/cancel',
  summary:
    'Cancel a run: a call that is not placed yet is never placed, a live call is hung up; an ended run does not change',
  role: 'member',
  idempotency: 'natural',
  params: byRunId,
  query: null,
  body: z.strictObject({}),
  output: run,
  statuses: [202],
  refusals: {},
  hints: { destructive: true },
})

const updateRun = operation({
  id: 'runs.update',
  method: 'PATCH',
  path: '/api/v1/runs/{run_id}',
  summary: 'Change variables or metadata of a live phone run; the agent uses them from its next turn on',
  role: 'member',
  idempotency: 'required_header',
  params: byRunId,
  query: null,
  body: z
    .strictObject({
      /** Merged by name. */
      override_dynamic_variables: runVariables.optional(),
      /** Replaces the whole metadata; null clears it. */
      metadata: runMetadata.nullable().optional(),
    })
    .refine(
      body => body.override_dynamic_variables !== undefined || body.metadata !== undefined,
      'override_dynamic_variables or metadata is required',
    ),
  output: z.strictObject({
    run_id: uuid,
    update: z.strictObject({
      update_id: uuid,
      run_id: uuid,
      revision: z.int().min(1),
      status: z.enum(['acknowledged', 'applying', 'applied', 'rejected', 'indeterminate']),
      acknowledged_at: timestamp,
      deadline: timestamp,
      completed_at: timestamp.nullable(),
      reason: text(0, 256).nullable(),
      applied: z.boolean(),
    }),
  }),
  statuses: [202, 200],
  refusals: { run_not_active: ['run_ended'], capability_unavailable: ['channel_not_supported'] },
})

export const runOperations = [listRuns, createRun, getRun, updateRun, cancelRun] as const
