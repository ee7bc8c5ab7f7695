export type { ImportWarning, NodeDiagnosticCode, PartFix } from './findings.ts'
export { conditionalEdges, edgeIn, placesOf, slotsOf, slottedEdges } from './node-edges.ts'
export type { Conversing } from './node-type.ts'
export { type Edge, type EdgeSlot, edge, equation, goBackCondition, slot, transitionCondition } from './parts/edge.ts'
export { wordsBesideCall } from './parts/execution-message.ts'
export { type Instruction, instruction } from './parts/instruction.ts'
export { isObject } from './parts/json-schema.ts'
export { propertyDescription, propertyNames } from './parts/property-names.ts'
export { type VariableItem, variableItem } from './parts/variable-item.ts'
export {
  type Action,
  action,
  actionKindNamed,
  actionKindOf,
  actionKindOfTool,
  type EffectAction,
  type FlowNode,
  isEffectAction,
  isHttpAction,
  node,
  nodeTypeNamed,
  nodeTypeOf,
  ownActionOf,
} from './registry.ts'
export {
  ANSWER_TO,
  ANSWER_WITHOUT_LEG,
  isLegRequest,
  type LegAnswer,
  type LegRequest,
  type NodeAnswer,
  type NodeRequest,
} from './requests.ts'
export { type ConversationView, LEAVE_NODE, type NodeStep, type ToolStep } from './steps.ts'
export type { CodeAction } from './types/code.ts'
export { newConversationNode } from './types/conversation.ts'
export { newEndNode } from './types/end.ts'
export { actionAuthentication, completeArguments, type HttpAction, openParameters } from './types/http-action.ts'
export type { McpAction } from './types/mcp.ts'
export { messageText, type SmsAction } from './types/sms.ts'
export { type Json, json, jsonFault, jsonObject, stringMap } from './values/json.ts'
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
export { decimal, e164, text, uri } from './values/text.ts'
