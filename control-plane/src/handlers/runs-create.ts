import { createHash } from 'node:crypto'
import { type InputOf, type OperationNamed, Refusal, type Scope } from '@parley/contract'
import { type DraftEnvironment, judgeDestination, type Plan, unreadyIn } from '@parley/flow'
import {
  admitRun,
  admittedRun,
  admitWithAnswer,
  type DialFacts,
  factsOfCall,
  factsOfRun,
  lockAgentForRun,
  type NewRun,
  type Queries,
  RefusedAdmission,
  type RunFacts,
  type RunKind,
  type RunRequest,
  secondsUntilCallAllowed,
} from '@parley/store'
import { type Context, type Handlers, withFirstReads } from '../context.ts'
import { agentArchived, agentNotPublished, noAgent, noVersion } from './agents-refusals.ts'
import { servicesOf } from './draft-environment.ts'
import type { RunContext } from './run-context.ts'
import { existingRun, runBody } from './runs-body.ts'
import { admissionRefused } from './runs-refusals.ts'
import { issueRoomCall, issueWebCall, type WebAccess } from './web-access.ts'

type Creation = OperationNamed<'runs.create'>
type RunCreation = InputOf<Creation>['body']
type CreatedRun = ReturnType<typeof runBody> & { readonly web?: WebAccess }

export const createRunHandler = {
  'runs.create': withFirstReads<Creation, Context, Facts>(
    ({ body }, context) => factsFor(body, context),
    async ({ body }, context, facts) => ({
      status: 201,
      body: body.channel === 'web' ? await createWebRun(body, context, facts) : await createRun(body, context, facts),
    }),
  ),
} satisfies Partial<Handlers>

/**
 * Admits a run on the phone or in the cloud in the last round trip of the transaction: admissions of one environment take turns from
 * there to the commit. A refusal stores nothing.
 */
async function createRun(body: RunCreation, context: Context, facts: Promise<Facts>): Promise<CreatedRun> {
  const { scope } = context
  const { request, publication, run } = await preparedRun(body, context, facts)
  context.writeLast({
    write: tx => admitWithAnswer(tx, scope, { ...request, ...run }),
    explain: async (error, db) =>
      error instanceof RefusedAdmission ? refusalOfAdmission(error.refused, scope, db) : error,
  })
  const { run_id } = run
  context.auditResource({ kind: 'run', id: run_id })
  context.wakeAfterCommit({ kind: kindOf(body), run_id, scope })
  return runBody(admittedRun(scope, request, publication, run))
}

/** Admits a web run, and gives its browser access to it; a refusal stores nothing. */
export async function createWebRun(
  body: RunCreation,
  context: RunContext,
  facts = factsFor(body, context),
): Promise<CreatedRun & { readonly web: WebAccess }> {
  const { db, scope } = context
  const { request, publication, webKind } = await preparedRun(body, context, facts)
  const admission = await admitRun(db, scope, request)
  if (admission.kind === 'refused') throw await refusalOfAdmission(admission, scope, db)
  const { run_id } = admission
  context.auditResource({ kind: 'run', id: run_id })
  // A direct web call waits for the offer of its browser.
  if (webKind !== 'direct') context.wakeAfterCommit({ kind: kindOf(body), run_id, scope })
  const web =
    webKind === 'direct'
      ? await issueWebCall(context, run_id, publication.plan.settings.maxCallDurationMs)
      : await issueRoomCall(context, run_id)
  return { ...runBody(await existingRun(context, run_id)), web }
}

async function refusalOfAdmission(refused: RefusedAdmission['refused'], scope: Scope, db: Queries): Promise<Refusal> {
  const isDailyLimit = refused.reason === 'daily_call_limit'
  return admissionRefused(refused, isDailyLimit ? await secondsUntilCallAllowed(db, scope) : null)
}

/** Checks the preconditions in the order that the API documents. */
async function preparedRun(body: RunCreation, context: RunContext, facts: Promise<Facts>) {
  const isPhone = body.channel === 'phone'
  const isWeb = body.channel === 'web'
  if (isPhone && !context.principal.canDial)
    throw new Refusal('forbidden', 'this key may not place calls: use a key with can_dial, or an admin key', {
      reason: 'can_dial',
    })
  const [agent, published, catalogue] = await facts
  const { publication, run } = publicationFor(body, settledValue(agent), settledValue(published))
  checkChannel(body, publication)
  const webKind = isWeb ? webKindOf(body, context) : null
  const line = 'number_trunk_id' in publication ? outboundLine(publication) : null
  if (line !== null) checkDestination(body.to, line.facts)
  const environment = { ...servicesOf(settledValue(catalogue)), secrets: publication.secrets }
  checkReadiness(publication.plan, { line, speaks: isPhone || isWeb }, environment)
  return { request: requestOf(body, publication, line, context), publication, webKind, run }
}

type Facts = Awaited<ReturnType<typeof factsFor>>

/** With the facts of its call, if the run places one. */
type Published = RunFacts | (RunFacts & DialFacts)

/**
 * Reads in one round trip what the request depends on; the first reason to refuse is still that of the agent. Locks the agent before the
 * rest is read, so that no concurrent request archives it, or publishes another head, before the run is admitted.
 */
function factsFor({ agent_id, channel, ...named }: RunCreation, { db, scope, platform }: RunContext) {
  const version = named.version ?? null
  return Promise.allSettled([
    lockAgentForRun(db, scope, agent_id),
    channel === 'phone'
      ? factsOfCall(db, scope, { agent_id, version, from: named.from ?? null })
      : factsOfRun(db, scope, { agent_id, version }),
    platform.catalogue(scope, db),
  ])
}

function settledValue<Value>(settled: PromiseSettledResult<Value>): Value {
  if (settled.status === 'rejected') throw settled.reason
  return settled.value
}

/** How the browser connects. */
function webKindOf({ web_kind }: RunCreation, { platform }: RunContext): WebAccess['kind'] {
  const hasRooms = platform.webRooms !== undefined
  if (web_kind === 'livekit' && !hasRooms)
    throw new Refusal(
      'capability_unavailable',
      'this platform has no LiveKit server: leave web_kind out, or set LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET',
      { reason: 'livekit_not_configured' },
    )
  return web_kind ?? (hasRooms ? 'livekit' : 'direct')
}

/** The kind of run, which decides which processes execute it. */
function kindOf({ channel, mode }: RunCreation): RunKind {
  return channel === 'cloud' ? (mode as 'task' | 'chat' | 'background') : channel
}

function publicationFor(
  { agent_id, version }: RunCreation,
  agent: Awaited<ReturnType<typeof lockAgentForRun>>,
  publication: Published | null,
): { readonly publication: Published; readonly run: NewRun } {
  if (agent === null) throw noAgent(agent_id)
  if (agent.archived_at !== null) throw agentArchived(agent_id)
  const publishedVersion = version ?? agent.head_version
  if (publishedVersion === null) throw agentNotPublished(agent_id)
  if (publication === null) throw noVersion(agent_id, publishedVersion)
  const { run_id, created_at } = agent
  return { publication, run: { run_id, created_at } }
}

function checkChannel({ channel, agent_id }: RunCreation, { version, channels, test }: RunFacts): void {
  if (channel === 'phone' && test)
    throw new Refusal(
      'conflict',
      `version ${version} was published for tests only and places no calls: publish the draft without "test"`,
      {
        reason: 'test_publication',
      },
    )
  // A web call is a call: an agent that serves the phone serves it.
  const needed = channel === 'web' ? 'phone' : channel
  if (!channels.includes(needed))
    throw notSupported(
      `version ${version} of agent "${agent_id}" serves ${channels.join(' and ')}, not ${needed}: change its channels and publish`,
    )
}

function notSupported(message: string): Refusal {
  return new Refusal('capability_unavailable', message, { reason: 'channel_not_supported' })
}

interface OutboundLine {
  readonly from: string
  readonly trunkId: string
  readonly facts: DialFacts
}

/** The number that the call comes from and its trunk; a trunk that the publication names must be that trunk. */
function outboundLine(facts: DialFacts): OutboundLine {
  const missing = (reason: 'telephony_missing' | 'trunk_unavailable' | 'number_unavailable', message: string) =>
    new Refusal('capability_unavailable', message, { reason })
  const { from_number: from, named_trunk_id: named, number_trunk_id: trunkId } = facts
  if (from === null)
    throw missing('telephony_missing', 'the agent has no number to call from: set "from", or agent.telephony')
  if (named !== null && !facts.has_trunk)
    throw missing(
      'trunk_unavailable',
      `the agent calls over trunk "${named}", which does not exist any more: change agent.telephony and publish`,
    )
  if (trunkId === null)
    throw missing('number_unavailable', `${from} is not a number of this environment: import it first`)
  if (named !== null && named !== trunkId)
    throw missing(
      'number_unavailable',
      `${from} is on trunk "${trunkId}", not on "${named}": change agent.telephony and publish`,
    )
  return { from, trunkId, facts }
}

function checkDestination(to: string | undefined, { destinations, own_numbers }: DialFacts): void {
  const { decision } = judgeDestination(to ?? '', {
    allowedCountries: destinations?.countries ?? null,
    allowPrefixes: destinations?.allow_prefixes ?? [],
    ownNumbers: own_numbers,
    mayDial: true,
  })
  if (decision === 'allow') return
  throw new Refusal(
    'policy_denied',
    'this destination is not allowed: only ordinary numbers of allowed countries are; platform staff can allow more',
    { reason: 'destination_not_allowed' },
  )
}

const UNREADY = {
  secret_not_found: 'secret_unavailable',
  model_not_ready: 'model_not_ready',
  voice_not_found: 'voice_not_ready',
} as const

type RunEnvironment = Pick<DraftEnvironment, 'models' | 'voices' | 'secrets'>

/** Resources that existed when the version was published may have been deleted since. */
function checkReadiness(
  plan: Plan,
  { line, speaks }: { readonly line: OutboundLine | null; readonly speaks: boolean },
  environment: RunEnvironment,
): void {
  const unready = (reason: (typeof UNREADY)[keyof typeof UNREADY], message: string) =>
    new Refusal('capability_unavailable', message, { reason })
  if (line?.facts.has_secret === false)
    throw unready(
      'secret_unavailable',
      `the password of trunk "${line.trunkId}" was deleted: set auth_secret of the trunk`,
    )
  const [first] = unreadyIn(plan, environment, { speech: speaks })
  if (first === undefined) return
  const { code, message } = first
  throw unready(UNREADY[code as keyof typeof UNREADY], message)
}

function requestOf(
  body: RunCreation,
  publication: RunFacts,
  line: OutboundLine | null,
  context: RunContext,
): RunRequest {
  const { principal, idempotencyKey } = context
  const { agent_id, version, test, plan } = publication
  return {
    agent_id,
    version,
    test,
    channel: body.channel,
    mode: body.mode,
    trigger:
      principal.ref.kind === 'site_key'
        ? { kind: 'site_key', site_key_id: principal.ref.id }
        : { kind: 'api', idempotency_key_sha256: sha256(idempotencyKey ?? '') },
    from_number: line?.from ?? null,
    to_number: body.to ?? null,
    trunk_id: line?.trunkId ?? null,
    dynamic_variables: body.dynamic_variables,
    metadata: body.metadata,
    caller_identity: null,
    key_id: principal.ref.kind === 'api_key' ? principal.ref.id : null,
    user_id: principal.ref.kind === 'user' ? principal.ref.id : null,
    can_dial: principal.canDial,
    notifies: plan.notification !== null,
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
