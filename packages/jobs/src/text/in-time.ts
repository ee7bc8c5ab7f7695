import type { Ms, Time } from '@parley/kernel'

/** What `work` comes to, or what `late` says (or throws) when that takes longer than `ms`. */
export async function inTime<Result, Late>(
  time: Time,
  ms: Ms,
  work: Promise<Result>,
  late: () => Late,
): Promise<Result | Late> {
  const { promise, resolve } = Promise.withResolvers<'late'>()
  const timer = time.at(time.now() + ms, () => resolve('late'))
  try {
    const first = await Promise.race([work.then(result => ({ result })), promise])
    return first === 'late' ? late() : first.result
  } finally {
    timer.cancel()
  }
}
