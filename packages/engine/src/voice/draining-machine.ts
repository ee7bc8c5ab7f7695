import type { Machine } from '@parley/kernel'

/** Wraps a machine so that all audio received so far is processed by `drain` before its timers fire. */
export function drainingMachine<Input, Output>(
  machine: Machine<Input, Output>,
  drain: () => void,
): Machine<Input, Output> {
  return {
    handle: (now, input) => machine.handle(now, input),
    advance: now => {
      drain()
      machine.advance(now)
    },
    poll: () => machine.poll(),
    deadline: () => machine.deadline(),
  }
}
