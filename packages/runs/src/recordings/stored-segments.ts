import type { Scope } from '@parley/contract'
import { ParleyError } from '@parley/kernel'
import { framesIn, readWavLayout, type WavLayout, wavHeader } from '@parley/media'
import { type Blobs, readRecordingKey, recordingKey, recordingPrefix } from '@parley/store'

/** Of each segment; segment n holds what was recorded from (n - 1) * 10 s on. */
export const SEGMENT_SECONDS = 10
/** Bytes in which silence is written, and a header is looked for. */
const BLOCK_BYTES = 16_384
const DELETED_AT_ONCE = 16

export interface StoredSegment {
  readonly key: string
  /** Bytes. */
  readonly size: number
}

/** What there is of a recording among the blobs. */
export interface StoredSegments {
  /** By number, from 1. */
  readonly segments: ReadonlyMap<number, StoredSegment>
  /** Whole recordings, by artifact. */
  readonly artifacts: ReadonlyMap<string, StoredSegment>
}

/** The blobs are what counts; what the database says of segments may be behind. */
export async function findSegments(blobs: Blobs, scope: Scope, runId: string): Promise<StoredSegments> {
  const segments = new Map<number, StoredSegment>()
  const artifacts = new Map<string, StoredSegment>()
  for await (const piece of blobs.list(recordingPrefix(scope, runId))) {
    const named = readRecordingKey(scope, runId, piece.key)
    if (named === null) continue
    if ('segment' in named) segments.set(named.segment, piece)
    else artifacts.set(named.artifactId, piece)
  }
  return { segments, artifacts }
}

/** Frames `from` to before `to` of what is recorded in an object, or silence of that length. */
interface Stretch {
  readonly key: string | null
  readonly from: number
  readonly to: number
}

/** The whole recording, stretch by stretch, each sample where it was on the call's clock. */
export interface WholePlan {
  readonly layout: WavLayout
  readonly frames: number
  readonly stretches: readonly Stretch[]
  /** No sample of it was silence for want of better, as far as the segments tell. */
  readonly isSeamless: boolean
}

/**
 * How the segments make one recording, over what an earlier join made of them (`base`). What is missing is silence of its
 * length. Null: there is no audio at all.
 */
export async function planWhole(
  blobs: Blobs,
  { segments, artifacts }: StoredSegments,
  base: string | null,
): Promise<WholePlan | null> {
  const whole = base === null ? undefined : artifacts.get(base)
  const layout = await layoutOf(blobs, [...(whole === undefined ? [] : [whole]), ...segments.values()])
  if (layout === null) return null
  const length = SEGMENT_SECONDS * layout.framesPerSecond
  const framesOf = (piece: StoredSegment | undefined) => (piece === undefined ? 0 : framesIn(layout, piece.size))
  const baseFrames = framesOf(whole)
  const inSegment = (number: number) => Math.min(framesOf(segments.get(number)), length)
  let frames = baseFrames
  for (const number of segments.keys()) {
    const recorded = inSegment(number)
    if (recorded > 0) frames = Math.max(frames, (number - 1) * length + recorded)
  }
  if (frames === 0) return null
  const stretches: Stretch[] = []
  let isSeamless = true
  for (let start = 0, number = 1; start < frames; start += length, number++) {
    const end = Math.min(length, frames - start)
    const recorded = inSegment(number)
    const before = Math.min(Math.max(baseFrames - start, recorded), end)
    if (recorded > 0) stretches.push({ key: segments.get(number)!.key, from: 0, to: recorded })
    if (before > recorded) stretches.push({ key: whole!.key, from: start + recorded, to: start + before })
    if (end > before) stretches.push({ key: null, from: before, to: end })
    isSeamless &&= recorded === end
  }
  return { layout, frames, stretches, isSeamless }
}

/** The bytes of the whole WAV. Throws `segment_missing` where one went or changed since it was found. */
export async function* wholeBytes(
  blobs: Blobs,
  { layout, frames, stretches }: WholePlan,
  onStretch: () => Promise<void>,
): AsyncIterable<Uint8Array> {
  yield wavHeader(layout, frames)
  const silence = new Uint8Array(BLOCK_BYTES).fill(layout.silence)
  for (const { key, from, to } of stretches) {
    await onStretch()
    let left = (to - from) * layout.frameBytes
    if (key === null) for (; left > 0; left -= Math.min(left, silence.length)) yield silence.subarray(0, left)
    else {
      const start = layout.header.length + from * layout.frameBytes
      const found = await blobs.get(key, { from: start, to: start + left })
      for await (const chunk of found?.bytes ?? []) {
        left -= (chunk as Uint8Array).length
        yield chunk as Uint8Array
      }
      if (left !== 0) throw new ParleyError('segment_missing', `${key} went while it was read`, { retryable: true })
    }
  }
}

/** Deletes segments that are joined, and whole recordings that are not, or no longer, the recording. */
export async function deleteSegments(
  blobs: Blobs,
  scope: Scope,
  runId: string,
  { segments, artifacts }: StoredSegments,
  keptArtifact: string | null,
): Promise<void> {
  const old = [...artifacts.keys()].filter(artifact => artifact !== keptArtifact)
  const keys = [...segments.values()].map(({ key }) => key)
  keys.push(...old.map(artifact => recordingKey(scope, runId, artifact)))
  for (let i = 0; i < keys.length; i += DELETED_AT_ONCE)
    await Promise.all(keys.slice(i, i + DELETED_AT_ONCE).map(key => blobs.delete(key)))
}

/** All files of a recording begin alike: the first that can be read tells. */
async function layoutOf(blobs: Blobs, pieces: readonly StoredSegment[]): Promise<WavLayout | null> {
  for (const { key, size } of pieces) {
    if (size === 0) continue
    const found = await blobs.get(key, { from: 0, to: Math.min(size, BLOCK_BYTES) })
    if (found === null) continue
    const layout = readWavLayout(Buffer.concat(await found.bytes.toArray()))
    if (layout !== null) return layout
  }
  return null
}
