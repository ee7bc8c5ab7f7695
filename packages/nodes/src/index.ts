export { edge, equation, goBackCondition, slot, transitionCondition } from './parts/edge.ts'
export { instruction } from './parts/instruction.ts'
export { variableItem } from './parts/variable-item.ts'
export { type Action, action, type FlowNode, node } from './registry.ts'
export { type Json, json, jsonFault, jsonObject, MAX_JSON_DEPTH, stringMap } from './values/json.ts'
export { actionId, edgeId, identifier, nodeId, variableName, variableValue } from './values/names.ts'
export {
  type ModelIdentity,
  type ModelRef,
  modelCredential,
  modelIdentity,
  modelRef,
  type SecretRef,
  secretRef,
} from './values/references.ts'
export { decimal, e164, notBlank, text, uri } from './values/text.ts'
