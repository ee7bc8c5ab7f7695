import type { Scope } from '@parley/contract'
import { framesIn, readWavLayout, type WavLayout, wavHeader } from '@parley/media'
import { type Blobs, readRecordingKey, recordingKey, recordingPrefix } from '@parley/store'
import { RunsError } from '../errors.ts'

/** Length of a segment; segment n begins at (n - 1) * 10 s. */
const SEGMENT_SECONDS = 10
/** Size of a block of silence, and of the read that contains a header. */
const BLOCK_BYTES = 16_384
const DELETED_AT_ONCE = 16

interface StoredSegment {
  readonly key: string
  /** Bytes. */
  readonly size: number
}

/** The blobs of a recording. */
export interface StoredSegments {
  /** Segments by number, from 1. */
  readonly segments: ReadonlyMap<number, StoredSegment>
  /** Joined recordings by artifact id. */
  readonly artifacts: ReadonlyMap<string, StoredSegment>
}

/** Lists the blobs, because the segments in the database may be out of date. */
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

/** Frames `from` to before `to` of an object, or silence of that length. */
interface Stretch {
  readonly key: string | null
  readonly from: number
  readonly to: number
}

/** The parts of the whole recording in order, each sample at its time in the call. */
export interface WholePlan {
  readonly layout: WavLayout
  readonly frames: number
  readonly stretches: readonly Stretch[]
  /** As far as the segments show, no missing audio was replaced by silence. */
  readonly isSeamless: boolean
}

/**
 * Plans one recording from the segments and the result of an earlier join (`base`). Missing audio becomes silence of its
 * length. Null: there is no audio.
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

/** The bytes of the whole WAV. Throws `segment_missing` if a segment was deleted or changed after it was listed. */
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
      if (left !== 0)
        throw new RunsError('segment_missing', `the segment ${key} was deleted or changed while it was read`)
    }
  }
}

/** Deletes joined segments, and joined files other than the current one. */
export async function deleteSegments(
  blobs: Blobs,
  scope: Scope,
  runId: string,
  { segments, artifacts }: StoredSegments,
  currentArtifact: string | null,
): Promise<void> {
  const old = [...artifacts.keys()].filter(artifact => artifact !== currentArtifact)
  const keys = [...segments.values()].map(({ key }) => key)
  keys.push(...old.map(artifact => recordingKey(scope, runId, artifact)))
  for (let i = 0; i < keys.length; i += DELETED_AT_ONCE)
    await Promise.all(keys.slice(i, i + DELETED_AT_ONCE).map(key => blobs.delete(key)))
}

/** All files of a recording have the same format, so it is read from the first readable one. */
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
