import variant from '@jitl/quickjs-wasmfile-release-sync'
import {
  newQuickJSWASMModuleFromVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core'

/** One run of an author's code. All values are JSON. */
export interface CodeTask {
  /** The body of an asynchronous function. */
  readonly code: string
  /** The variables of the conversation. */
  readonly dv: Readonly<Record<string, string>>
  /** Facts about the call. */
  readonly metadata: Readonly<Record<string, unknown>>
}

export type CodeResult =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false
      readonly code: 'code_failed' | 'code_timeout' | 'code_memory' | 'code_unavailable'
      readonly message: string
    }

const MEMORY_BYTES = 16 * 1024 * 1024
const STACK_BYTES = 256 * 1024
/** Maximum length of the returned value as JSON, and of an error message. */
const MAX_RESULT = 65_536
const MAX_MESSAGE = 500

let quickJs: Promise<QuickJSWASMModule> | undefined

/**
 * Runs code in an interpreter of its own (QuickJS in WebAssembly): it reaches no host function, no network, no files, no timers and no
 * other run. `cpuMs` bounds its processor time. A promise that nothing resolves is an error.
 */
export async function runInIsolate(task: CodeTask, cpuMs: number): Promise<CodeResult> {
  quickJs ??= newQuickJSWASMModuleFromVariant(variant as unknown as QuickJSSyncVariant)
  const runtime = (await quickJs).newRuntime()
  runtime.setMemoryLimit(MEMORY_BYTES)
  runtime.setMaxStackSize(STACK_BYTES)
  const deadline = performance.now() + cpuMs
  const isLate = () => performance.now() > deadline
  runtime.setInterruptHandler(isLate)
  const context = runtime.newContext()
  try {
    return run(context, task, isLate)
  } finally {
    context.dispose()
    runtime.dispose()
  }
}

function run(context: QuickJSContext, { code, dv, metadata }: CodeTask, isLate: () => boolean): CodeResult {
  const input = context.newString(JSON.stringify({ dv, metadata }))
  context.setProp(context.global, '__input', input)
  input.dispose()
  // The author's code is the body of a function: it returns its result, and may await its own promises.
  const source = `(() => {
const { dv, metadata } = JSON.parse(globalThis.__input)
delete globalThis.__input
const none = () => {}
const console = { log: none, info: none, warn: none, error: none, debug: none }
return (async () => {\n${code}\n})()
})()`
  const evaluated = context.evalCode(source, 'code')
  if (evaluated.error) return failure(context, evaluated.error, isLate())
  const promise = evaluated.value
  const jobs = context.runtime.executePendingJobs()
  if (jobs.error) {
    promise.dispose()
    return failure(context, jobs.error, isLate())
  }
  jobs.dispose()
  const state = context.getPromiseState(promise)
  promise.dispose()
  switch (state.type) {
    case 'pending':
      if (isLate()) return LATE
      return failed('The code waits for something that never happens: it has no network and no timers.')
    case 'rejected':
      return failure(context, state.error, isLate())
    case 'fulfilled':
      return resultOf(context, state.value, isLate)
  }
}

function resultOf(context: QuickJSContext, value: QuickJSHandle, isLate: () => boolean): CodeResult {
  const stringify = context.unwrapResult(context.evalCode('value => JSON.stringify(value)'))
  const written = context.callFunction(stringify, context.undefined, value)
  stringify.dispose()
  value.dispose()
  if (written.error) return failure(context, written.error, isLate())
  const json = written.value
  const text = context.typeof(json) === 'string' ? context.getString(json) : 'null'
  json.dispose()
  if (text.length > MAX_RESULT) return failed(`The result is longer than ${MAX_RESULT} characters.`)
  return { ok: true, value: JSON.parse(text) as unknown }
}

/** Reads and disposes the error. */
function failure(context: QuickJSContext, error: QuickJSHandle, isLate: boolean): CodeResult {
  const dumped: unknown = isLate ? null : context.dump(error)
  error.dispose()
  if (isLate) return LATE
  const { name = 'Error', message = String(dumped) } = (
    typeof dumped === 'object' && dumped !== null ? dumped : {}
  ) as { readonly name?: unknown; readonly message?: unknown }
  const text = `${String(name)}: ${String(message)}`.slice(0, MAX_MESSAGE)
  return /out of memory/.test(text) ? { ok: false, code: 'code_memory', message: text } : failed(text)
}

const LATE: CodeResult = {
  ok: false,
  code: 'code_timeout',
  message: 'The code used more processor time than it may.',
}

function failed(message: string): CodeResult {
  return { ok: false, code: 'code_failed', message }
}
