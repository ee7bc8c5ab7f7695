import { parentPort } from 'node:worker_threads'
import { MediaError } from '../errors.ts'
import { RecordingFile } from './recording-file.ts'
import type { RecordingWriterCommand, RecordingWriterReport } from './recording-writer-messages.ts'

const FLUSH_INTERVAL_MS = 500

const port = parentPort
if (port === null) throw new MediaError('not_a_worker', 'The recording writer runs as a worker thread only.')

const files = new Map<number, RecordingFile>()
/** Where the audio of each recording comes from. */
const sources = new Map<number, { readonly ring: SharedArrayBuffer; readonly swapChannels: boolean }>()

port.on('message', (command: RecordingWriterCommand) => {
  switch (command.type) {
    case 'add':
      attempt(command.id, () =>
        files.set(
          command.id,
          new RecordingFile(
            command.ring,
            command.path,
            command.swapChannels,
            command.resume,
            command.segments,
            command.from,
          ),
        ),
      )
      if (files.has(command.id)) sources.set(command.id, command)
      break
    case 'split':
      split(command)
      break
    case 'finish':
      finish(command.id)
      break
    case 'close':
      for (const id of [...files.keys()]) finish(id)
      report({ type: 'closed' })
      port.close()
      clearInterval(flushing)
      break
  }
})

// A late flush only makes the next one longer: the rings hold four.
const flushing = setInterval(() => {
  for (const [id, file] of files) attempt(id, () => file.flush(false))
}, FLUSH_INTERVAL_MS)

report({ type: 'ready' })

function finish(id: number): void {
  const file = files.get(id)
  // Absent if its failure was reported.
  if (file === undefined) return
  attempt(id, () => {
    file.flush(true)
    finished(id, file)
  })
}

function finished(id: number, file: RecordingFile): void {
  file.close()
  forget(id)
  const { durationMs, sampleRateHz, segments } = file
  report({ type: 'finished', id, recording: { durationMs, sampleRateHz, segments } })
}

function forget(id: number): void {
  files.delete(id)
  sources.delete(id)
}

/** The recording ends here, and `next` goes on with the audio that follows. */
function split({ id, next }: RecordingWriterCommand & { readonly type: 'split' }): void {
  const [file, source] = [files.get(id), sources.get(id)]
  attempt(id, () => {
    file?.end()
    if (file !== undefined) finished(id, file)
  })
  attempt(next.id, () => {
    if (file === undefined || source === undefined)
      throw new MediaError('recording_failed', `the recording ${id} has failed and cannot be continued`)
    const { ring, swapChannels } = source
    const from = file.position
    files.set(next.id, new RecordingFile(ring, next.path, swapChannels, false, next.segments, from))
    sources.set(next.id, source)
    report({ type: 'begun', id: next.id, from })
  })
}

/** Runs `work`; a failure ends that recording only. */
function attempt(id: number, work: () => void): void {
  try {
    work()
  } catch (error) {
    const file = files.get(id)
    forget(id)
    try {
      file?.close()
    } catch {
      // The first failure is the cause and is reported.
    }
    const failure = MediaError.is(error) ? error : new MediaError('recording_failed', String(error))
    report({ type: 'failed', id, code: failure.code, message: failure.message })
  }
}

function report(message: RecordingWriterReport): void {
  port?.postMessage(message)
}
