import { parentPort, workerData } from 'node:worker_threads'
import { runCommand } from '../memory-wasi.ts'

export interface FliteTask {
  readonly text: string
  readonly voice: string
  /** 1: the voice's normal speed; 2: half of it. */
  readonly stretch: number
}

export type FliteOutcome = { readonly wav: Uint8Array } | { readonly failure: string }

/** A sentence of 240 characters at half speed is half a minute: about 1 MB at 16 kHz. */
const MAX_WAV_BYTES = 8 * 1024 * 1024

const { module } = workerData as { readonly module: WebAssembly.Module }

function speak(task: FliteTask): FliteOutcome {
  const args = ['flite', '-voice', task.voice, '--setf', `duration_stretch=${task.stretch}`, '-t', task.text]
  try {
    const result = runCommand(module, [...args, '-o', 'out.wav'], {
      outputName: 'out.wav',
      maxOutputBytes: MAX_WAV_BYTES,
    })
    if (result.status !== 0) return { failure: `flite exited with ${result.status}: ${result.stderr.trim()}` }
    return { wav: result.output }
  } catch (error) {
    return { failure: `flite crashed: ${error instanceof Error ? error.message : String(error)}` }
  }
}

const port = parentPort!
port.on('message', (task: FliteTask) => {
  const outcome = speak(task)
  port.postMessage(outcome, 'wav' in outcome ? [outcome.wav.buffer as ArrayBuffer] : [])
})
