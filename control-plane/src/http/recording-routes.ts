import { Refusal } from '@parley/contract'
import { type Database, readRun, recordingKey, writeAudit } from '@parley/store'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Platform } from '../context.ts'
import type { Pipeline } from '../pipeline/pipeline.ts'
import { openLink, RECORDINGS_PATH, type RecordingLink } from '../recordings/recording-link.ts'
import { type RecordingNow, recordingOf } from '../recordings/recording-state.ts'
import { parseByteRange } from './byte-range.ts'
import { sendAnswer, setRateLimitHeaders } from './exchange.ts'
import { PLAYER_POLICY, playerPage } from './player-page.ts'
import { answerTo, refusedRequest } from './request-fault.ts'

interface RecordingRoutes {
  readonly pipeline: Pipeline
  readonly database: Pick<Database, 'within' | 'transaction'>
  readonly platform: Pick<Platform, 'sealer' | 'now' | 'blobs'>
}

interface OpenedLink {
  readonly link: RecordingLink
  readonly at: string
  readonly recording: RecordingNow
}

/** Serves the player page and the audio of recordings by the links that `runs.recording` returns; no key is needed. */
export function serveRecordings(app: FastifyInstance, routes: RecordingRoutes): void {
  const options = { method: ['GET', 'HEAD'], config: { operation: 'recording' } }
  const page = async (request: FastifyRequest, reply: FastifyReply) => {
    const linked = await openedLink(request, routes)
    if (linked === null || linked.link.kind !== 'page') return recordingNotFound(request, reply, routes)
    const { link, at, recording } = linked
    const { token } = request.params as { token: string }
    const source = recording.content === null ? null : `${token}/audio`
    return reply
      .headers({
        ...SECURITY_HEADERS,
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': PLAYER_POLICY,
      })
      .send(playerPage({ runId: link.run_id, at, state: recording.state, audio: source }))
  }
  const audio = async (request: FastifyRequest, reply: FastifyReply) => {
    const linked = await openedLink(request, routes)
    const content = linked?.recording.content ?? null
    if (linked === null || content === null) return recordingNotFound(request, reply, routes)
    const { link } = linked
    // An audio link is valid only for the recording that existed when the link was made.
    if (link.artifact_id !== null && link.artifact_id !== content.artifact_id)
      return recordingNotFound(request, reply, routes)
    return sendAudio(request, reply, { routes, link, content })
  }
  app.route({ ...options, url: `${RECORDINGS_PATH}/:token`, handler: page })
  app.route({ ...options, url: `${RECORDINGS_PATH}/:token/audio`, handler: audio })
}

const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
}

async function openedLink(
  request: FastifyRequest,
  { database, platform }: RecordingRoutes,
): Promise<OpenedLink | null> {
  const { token } = request.params as { token: string }
  const link = openLink(platform.sealer, token, platform.now())
  if (link === null) return null
  const db = database.within(link)
  const run = await readRun(db, link, link.run_id)
  return run === null ? null : { link, at: run.created_at, recording: await recordingOf(db, run) }
}

/** Counts against the address like a request without a key, which limits guessing of links. */
function recordingNotFound(request: FastifyRequest, reply: FastifyReply, { pipeline }: RecordingRoutes): FastifyReply {
  const { rateLimit, refused } = pipeline.admitAddress(request.ip, request.id)
  setRateLimitHeaders(reply, rateLimit)
  const message =
    'there is no such recording, or the link has expired: get a new link with GET /runs/{run_id}/recording'
  return sendAnswer(request, reply, refused ?? answerTo(new Refusal('not_found', message)))
}

interface Audio {
  readonly routes: RecordingRoutes
  readonly link: RecordingLink
  readonly content: NonNullable<RecordingNow['content']>
}

async function sendAudio(request: FastifyRequest, reply: FastifyReply, audio: Audio): Promise<FastifyReply> {
  const { routes, link, content } = audio
  const { byte_size: size, artifact_id, media_type } = content
  const etag = `"${artifact_id}"`
  const condition = request.headers['if-range']
  const isUnchanged = condition === undefined || condition === etag
  // A range is for GET only (RFC 9110, 14.2).
  const range = isUnchanged && request.method === 'GET' ? parseByteRange(request.headers.range, size) : null
  reply.headers({ ...SECURITY_HEADERS, 'accept-ranges': 'bytes', etag })
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${size}`)
    const fault = refusedRequest(`the recording has ${size} bytes`, 'range: begins after the last byte')
    return sendAnswer(request, reply, { ...answerTo(fault), status: 416 })
  }
  if (request.method === 'HEAD')
    return reply.headers({ 'content-type': media_type, 'content-length': String(size) }).send()
  const key = recordingKey(link, link.run_id, artifact_id)
  const bytes = range === null ? undefined : { from: range.from, to: range.to + 1 }
  const blob = await routes.platform.blobs.get(key, bytes)
  if (blob === null) return recordingNotFound(request, reply, routes)
  // Later ranges that a player requests belong to the same playback.
  if (range === null || range.from === 0)
    await auditPlayback(routes, link, request.id).catch(failed => {
      blob.bytes.destroy()
      throw failed
    })
  reply.headers({
    'content-type': media_type,
    'content-length': String(range === null ? size : range.to - range.from + 1),
    'content-disposition': `inline; filename="recording-${link.run_id}.wav"`,
    ...(range !== null && { 'content-range': `bytes ${range.from}-${range.to}/${size}` }),
  })
  return reply.code(range === null ? 200 : 206).send(blob.bytes)
}

/** Audits a playback; the principal is the link, since its user is unknown. */
function auditPlayback({ database }: RecordingRoutes, link: RecordingLink, requestId: string): Promise<void> {
  const { owner_id, environment } = link
  return database.transaction(link, tx =>
    writeAudit(tx, link, {
      principal: { owner_id, environment, kind: 'system', id: 'recording-link' },
      action: 'runs.recording',
      resource: { kind: 'run', id: link.run_id },
      outcome: 'allowed',
      request_id: requestId,
    }),
  )
}
