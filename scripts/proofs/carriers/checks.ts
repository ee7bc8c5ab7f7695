/** The engine did not do what the scenario expects. */
export class ScenarioFailure extends Error {}

/** Throws unless `actual` and `expected` are the same value, or the same list. */
export function check(what: string, actual: unknown, expected: unknown): void {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (found !== wanted) throw new ScenarioFailure(`${what}: expected ${wanted}, but it is ${found}`)
}

/** Throws unless `holds`. */
export function checkThat(what: string, holds: boolean): void {
  if (!holds) throw new ScenarioFailure(what)
}
