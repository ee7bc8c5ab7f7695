/** One difference between two drafts. */
export interface Difference {
  /** Names and ids from the draft to the value, such as `flow`, `nodes`, `welcome`, `instruction`, `text`. */
  readonly path: readonly string[]
  /** Undefined: the value is new. */
  readonly before: unknown
  /** Undefined: the value is gone. */
  readonly after: unknown
}

const IDS = ['id', 'action_id', 'component_id', 'name'] as const

/**
 * How `after` differs from `before`, member by member. The members of lists are compared by their ids, so that a node that only moved
 * in its list is no difference; lists without ids are compared as a whole.
 */
export function differences(before: unknown, after: unknown, path: readonly string[] = []): readonly Difference[] {
  if (Object.is(before, after)) return []
  if (Array.isArray(before) && Array.isArray(after)) {
    const [old, young] = [byId(before), byId(after)]
    if (old !== null && young !== null) return ofMembers(old, young, path)
    return sameJson(before, after) ? [] : [{ path, before, after }]
  }
  if (isObject(before) && isObject(after))
    return ofMembers(new Map(Object.entries(before)), new Map(Object.entries(after)), path)
  return [{ path, before, after }]
}

function ofMembers(
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
  path: readonly string[],
): readonly Difference[] {
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names].flatMap(name => {
    const at = [...path, name]
    if (!before.has(name)) return [{ path: at, before: undefined, after: after.get(name) }]
    if (!after.has(name)) return [{ path: at, before: before.get(name), after: undefined }]
    return differences(before.get(name), after.get(name), at)
  })
}

/** The members of a list by their ids; null: not all have one of their own. */
function byId(list: readonly unknown[]): ReadonlyMap<string, unknown> | null {
  const members = new Map<string, unknown>()
  for (const member of list) {
    const id = isObject(member) ? IDS.map(name => member[name]).find(value => typeof value === 'string') : undefined
    if (typeof id !== 'string' || members.has(id)) return null
    members.set(id, member)
  }
  return members
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** A value as people read it: text as it is, everything else as JSON. */
export function shownValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 1)
}
