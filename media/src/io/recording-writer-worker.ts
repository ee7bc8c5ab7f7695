import { parentPort } from 'node:worker_threads'
import { MediaError } from '../errors.ts'
import { RecordingFile } from './recording-file.ts'
import type { RecordingWriterCommand, RecordingWriterReport } from './recording-writer-messages.ts'

const FLUSH_INTERVAL_MS = 500

const port = parentPort
if (port === null) throw new MediaError('not_a_worker', 'The recording writer runs as a worker thread only.')

const files = new Map<number, RecordingFile>()

port.on('message', (command: RecordingWriterCommand) => {
  switch (command.type) {
    case 'add':
      attempt(command.id, () =>
        files.set(
          command.id,
          new RecordingFile(command.ring, command.path, command.swapChannels, command.resume, command.segments),
        ),
      )
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
    file.close()
    files.delete(id)
    const { durationMs, sampleRateHz, segments } = file
    report({ type: 'finished', id, recording: { durationMs, sampleRateHz, segments } })
  })
}

/** Runs `work`; a failure ends that recording only. */
function attempt(id: number, work: () => void): void {
  try {
    work()
  } catch (error) {
    const file = files.get(id)
    files.delete(id)
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
