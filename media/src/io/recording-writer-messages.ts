import type { Ms, SampleRateHz, Samples } from '@parley/kernel'
import type { MediaErrorCode } from '../errors.ts'
import type { RecordingSegments } from '../session/media-session.ts'

export interface FinishedRecording {
  readonly durationMs: Ms
  readonly sampleRateHz: SampleRateHz
  /** Number of segment files; 0 without segments. */
  readonly segments: number
}

/** Commands from the main thread to the writer thread, in order. */
export type RecordingWriterCommand =
  | {
      readonly type: 'add'
      readonly id: number
      readonly ring: SharedArrayBuffer
      readonly path: string
      readonly swapChannels: boolean
      readonly resume: boolean
      readonly segments: RecordingSegments | undefined
      /** Position in the ring at which the recording begins. */
      readonly from: Samples
    }
  /** The recording `id` ends with what it has; the audio from there on is that of `next`. */
  | {
      readonly type: 'split'
      readonly id: number
      readonly next: { readonly id: number; readonly path: string; readonly segments: RecordingSegments | undefined }
    }
  | { readonly type: 'finish'; readonly id: number }
  | { readonly type: 'close' }

/**
 * Reports from the writer thread to the main thread. `finished` or `failed` is the last report about a recording,
 * `closed` the last of all.
 */
export type RecordingWriterReport =
  | { readonly type: 'ready' }
  /** A recording began at this position of its ring, where another was split. */
  | { readonly type: 'begun'; readonly id: number; readonly from: Samples }
  | { readonly type: 'finished'; readonly id: number; readonly recording: FinishedRecording }
  | { readonly type: 'failed'; readonly id: number; readonly code: MediaErrorCode; readonly message: string }
  | { readonly type: 'closed' }
