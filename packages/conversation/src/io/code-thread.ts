import { parentPort, workerData } from 'node:worker_threads'
import { type CodeResult, type CodeTask, runInIsolate } from './code-isolate.ts'

const { cpuMs } = workerData as { readonly cpuMs: number }

parentPort!.on('message', async (task: CodeTask) => {
  try {
    parentPort!.postMessage(await runInIsolate(task, cpuMs))
  } catch {
    // The interpreter itself gave up, as it does when its memory is exhausted: a new thread takes its place.
    const message = 'The code used more memory than it may.'
    parentPort!.postMessage({ ok: false, code: 'code_memory', message } satisfies CodeResult)
    process.exit()
  }
})
