export {
  AgentCall,
  type AgentState,
  type CallAccess,
  type CallState,
  call,
  siteAccess,
  type Utterance,
} from './agent-call.ts'
export { ParleyCallElement } from './parley-call-element.ts'
