import type { Samples } from '@parley/kernel'
import type { MediaReport, MediaSessionOptions } from '../session/media-session.ts'
import type { RecordingWriter } from './recording-writer.ts'

type Recording = NonNullable<MediaSessionOptions['recording']>

/**
 * The recordings of one session, one after the other. A call does not fail with its recording: the writer has reported a failure to
 * its listeners.
 */
export class SessionRecording {
  readonly #writer: RecordingWriter
  #current: { readonly id: number; readonly path: string } | null = null

  constructor(writer: RecordingWriter) {
    this.#writer = writer
  }

  begin(ring: SharedArrayBuffer, recording: Recording): void {
    this.#current = { id: this.#writer.add(ring, recording.path, recording), path: recording.path }
  }

  /** See `MediaSession.splitRecording`. `from`: null where no other recording begins. */
  async split(next: Recording | null): Promise<{ readonly segments: number | null; readonly from: Samples | null }> {
    const ending = this.#current
    this.#current = null
    if (ending === null) return { segments: null, from: null }
    if (next === null) return { segments: (await this.#finish(ending))?.segments ?? null, from: null }
    try {
      const split = this.#writer.split(ending.id, next.path, next.segments)
      const [ended, begun] = await Promise.all([split.ended.catch(() => null), split.next.catch(() => null)])
      if (begun !== null) this.#current = { id: begun.id, path: next.path }
      return { segments: ended?.segments ?? null, from: begun?.from ?? null }
    } catch {
      return { segments: null, from: null }
    }
  }

  /** Completes the recording; null: there is none, or it failed. */
  async finish(): Promise<MediaReport['recording']> {
    const ending = this.#current
    this.#current = null
    return ending === null ? null : this.#finish(ending)
  }

  async #finish({ id, path }: { readonly id: number; readonly path: string }): Promise<MediaReport['recording']> {
    return this.#writer.finish(id).then(
      recording => ({ path, channels: 2, ...recording }),
      () => null,
    )
  }
}
