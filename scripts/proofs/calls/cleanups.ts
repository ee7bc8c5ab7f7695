import { type AtTestEnd, cleanUp } from '../../../interop/clean-up.ts'

/** Runs `prove` with a function that registers cleanups, and afterwards the cleanups, the last one first. */
export async function withCleanups<Result>(prove: (atEnd: AtTestEnd) => Promise<Result>): Promise<Result> {
  const cleanups: Parameters<AtTestEnd>[0][] = []
  try {
    return await prove(cleanup => void cleanups.push(cleanup))
  } finally {
    await cleanUp(cleanups)
  }
}
