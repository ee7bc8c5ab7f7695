/** Maximum members in one path. */
const MAX_STEPS = 64

/**
 * The value at a path such as `$.slots[0].time`, `slots.0.time` or `$['a b']` in a parsed answer; undefined where
 * there is none. Inherited members are not read.
 */
export function valueAt(body: unknown, path: string): unknown {
  const steps = stepsOf(path)
  if (steps === undefined) return undefined
  let value = body
  for (const step of steps) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as Record<string, unknown>)[step]
  }
  return value
}

/** The member names along the path; undefined when its syntax is wrong. */
function stepsOf(path: string): string[] | undefined {
  const step = /\.?([^.[\]'"$]+)|\.?\[(?:(\d{1,9})|'([^']*)'|"([^"]*)")\]/y
  const steps: string[] = []
  step.lastIndex = path.startsWith('$') ? 1 : 0
  while (step.lastIndex < path.length) {
    const match = step.exec(path)
    if (match === null || steps.length === MAX_STEPS) return undefined
    steps.push((match[1] ?? match[2] ?? match[3] ?? match[4])!)
  }
  return steps
}

/** Whether the path's syntax is right. */
export function isResponsePath(path: string): boolean {
  return stepsOf(path) !== undefined
}
