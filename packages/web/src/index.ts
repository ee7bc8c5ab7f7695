export {
  AgentCall,
  type AgentState,
  type CallAccess,
  type CallState,
  call,
  gathered,
  siteAccess,
  type Utterance,
} from './agent-call.ts'
export { ParleyCallElement } from './parley-call-element.ts'
