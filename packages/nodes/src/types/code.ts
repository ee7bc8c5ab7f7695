import { z } from 'zod'
import { defineAction } from '../action-kind.ts'
import type { ImportWarning } from '../findings.ts'
import { defineNode, type JsonObject } from '../node-type.ts'
import {
  effectNodeFields,
  effectNodeFindings,
  ownActionFields,
  responseVariables,
  resultFields,
  runOwnAction,
} from '../parts/effect.ts'
import { objectSchema } from '../parts/json-schema.ts'
import { warnTypingSound } from '../parts/typing-sound.ts'
import { text } from '../values/text.ts'

const code = {
  /** The body of an asynchronous JavaScript function. It reads the variables from `dv` and the call from `metadata`, and returns a JSON value. */
  code: text(0, 65_536).default(''),
  /** Limit of the whole run. The processor time is bounded apart, to one second. */
  timeout_ms: z.int().min(1000).max(60_000).default(30_000),
}

/** Runs JavaScript as a tool. */
const codeAction = defineAction({
  kind: 'code',
  exportType: 'code',
  fields: { ...code, ...resultFields },
  parameters: () => objectSchema({}, []),
  use: () => ({ next: 'run_action' }),
  variableNames: action => Object.keys(action.response_variables),
  check: warnTypingSound,
  importWarnings: networkWarnings,
})

/** Runs JavaScript that the agent's author wrote, without a network. */
export const codeNode = defineNode({
  type: 'code',
  fields: { ...code, response_variables: responseVariables, ...effectNodeFields },
  enter: runOwnAction,
  ownAction: node => ({
    ...ownActionFields(node),
    kind: codeAction.kind,
    code: node.code,
    timeout_ms: node.timeout_ms,
    response_variables: node.response_variables,
  }),
  variableNames: node => Object.keys(node.response_variables),
  check: effectNodeFindings,
  importWarnings: networkWarnings,
  action: codeAction,
})

/** The source platform lets code call other servers. */
function networkWarnings(source: JsonObject): ImportWarning[] {
  if (typeof source.code !== 'string' || !/\b(fetch|XMLHttpRequest|axios|require|import)\s*\(/.test(source.code))
    return []
  const message = 'Code has no network and no modules here, so this call fails: use a function node with an HTTP action'
  return [{ code: 'unsupported_capability', field: 'code', message }]
}

export type CodeAction = z.output<typeof codeAction.schema>
