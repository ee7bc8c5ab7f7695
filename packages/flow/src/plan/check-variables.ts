import { actionKindOf, nodeTypeOf } from '@parley/nodes'
import { variableOf } from '../interpreter/equation.ts'
import { isKnownSystemVariable } from '../interpreter/system-variables.ts'
import { references } from '../interpreter/template.ts'
import type { DraftContent } from './draft.ts'
import type { Equation } from './edge.ts'
import type { Findings } from './findings.ts'
import { isSystemVariable, isVariableName } from './names.ts'
import { scopesOf } from './scope.ts'

/** Set by the engine where the agent remembers calls. */
const LAST_CALL = 'last_call'

/** Warns of variables that the flow reads and that nothing in the draft sets; a run may still set them when it is created. */
export function checkVariables(draft: DraftContent, findings: Findings): void {
  const known = definedVariables(draft)
  const reported = new Set<string>()
  const report = (name: string, path: readonly (string | number)[]) => {
    if (known.has(name) || reported.has(name) || isKnownSystemVariable(name)) return
    reported.add(name)
    const isDefinable = isVariableName(name) && !isSystemVariable(name)
    findings.warning(
      'variable_undefined',
      path,
      `Nothing in the draft sets the variable "${name}", so it is empty unless the run sets it: give it a default, extract it, or correct the name`,
      isDefinable
        ? {
            label: `Give "${name}" an empty default`,
            edits: [{ type: 'flow.variables', values: { [name]: '' }, clear: [] }],
          }
        : undefined,
    )
  }
  for (const { name, path } of readVariables(draft)) report(name, path)
}

function definedVariables(draft: DraftContent): ReadonlySet<string> {
  const names = new Set([
    ...Object.keys(draft.flow.default_dynamic_variables),
    ...(draft.inbound_context?.variables ?? []),
    ...(draft.settings.callMemory?.enabled === true ? [LAST_CALL] : []),
  ])
  for (const action of draft.actions)
    for (const name of actionKindOf(action).variableNames?.(action) ?? []) names.add(name)
  for (const scope of scopesOf(draft))
    for (const node of scope.nodes) for (const name of nodeTypeOf(node).variableNames?.(node) ?? []) names.add(name)
  return names
}

interface Read {
  readonly name: string
  readonly path: readonly (string | number)[]
}

function readVariables(draft: DraftContent): Read[] {
  const found: Read[] = []
  const { global_prompt, default_dynamic_variables: _, ...rest } = draft.flow
  collect(global_prompt, ['flow', 'global_prompt'], found)
  collect(rest, ['flow'], found)
  collect(draft.actions, ['actions'], found)
  return found
}

/** Collects every variable that a template or the left side of an equation refers to. The schema bounds the depth of `value`. */
function collect(value: unknown, path: readonly (string | number)[], found: Read[]): void {
  if (typeof value === 'string') for (const name of references(value)) found.push({ name, path })
  if (Array.isArray(value)) for (const [index, item] of value.entries()) collect(item, [...path, index], found)
  else if (typeof value === 'object' && value !== null) {
    if (isEquation(value)) {
      const name = variableOf(value.left)
      if (name !== undefined && !value.left.includes('{{')) found.push({ name, path: [...path, 'left'] })
    }
    for (const [key, item] of Object.entries(value)) collect(item, [...path, key], found)
  }
}

function isEquation(value: object): value is Equation {
  return 'left' in value && typeof value.left === 'string' && 'operator' in value
}
