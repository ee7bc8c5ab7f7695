import type { Json } from '@parley/contract'
import { exportedVersion } from './check-export.ts'
import { given, isObject, type JsonObject, shown } from './json.ts'
import { isCount } from './read-export.ts'

/** The agent and the flow of an export, separated, and what else its file says. */
export interface ExportFile {
  readonly agent: JsonObject
  readonly flow: JsonObject
  readonly agentVersion: number
  /** The members of an import request that the file holds besides; absent in a file of the vendor. */
  readonly config: Json | undefined
  readonly modelBindings: Json | undefined
  /** Id of the agent that the file names; null: none. */
  readonly reference: string | null
}

type ExportFileRead =
  | { readonly ok: true; readonly file: ExportFile }
  | { readonly ok: false; readonly message: string }

/** The members under which files hold the flow beside the agent's fields. */
const FLOW_MEMBERS = ['conversationFlow', 'conversation_flow', 'flow'] as const

/** The members under which files hold the agent beside the flow. */
const AGENT_MEMBERS = ['agent', 'voice_agent'] as const

/**
 * Finds agent and flow in a file: the body of an import request, an agent that holds its flow, an agent and a flow side by side, or a
 * flow alone. `message` says why a file is none of these.
 */
export function readExportFile(value: unknown): ExportFileRead {
  if (!isObject(value)) return { ok: false, message: 'is not a JSON object' }
  const file = value
  const agentName = AGENT_MEMBERS.find(name => isObject(file[name]))
  const outer = agentName === undefined ? null : (file[agentName] as JsonObject)
  const holder = [file, outer].find(candidate => candidate !== null && flowMember(candidate) !== undefined)
  if (holder !== undefined && holder !== null) {
    const member = flowMember(holder)!
    const { [member]: flow, ...rest } = outer ?? holder
    return read(file, outer === null || outer === holder ? rest : outer, (flow ?? holder[member]) as JsonObject)
  }
  if (Array.isArray(file.nodes)) return read(file, {}, file)
  return { ok: false, message: absence(outer ?? file) }
}

function flowMember(holder: JsonObject): string | undefined {
  return FLOW_MEMBERS.find(name => isObject(holder[name]))
}

function read(file: JsonObject, agent: JsonObject, flow: JsonObject): ExportFileRead {
  const version = given(file, 'agent_version') ?? (exportedVersion(agent) as Json | undefined)
  const reference = isObject(file.reference) ? file.reference.id : undefined
  return {
    ok: true,
    file: {
      agent,
      flow,
      agentVersion: isCount(version) ? version : 0,
      config: given(file, 'config'),
      modelBindings: given(file, 'model_bindings'),
      reference: typeof reference === 'string' ? reference : null,
    },
  }
}

/** Why an object holds no flow. */
function absence(agent: JsonObject): string {
  const engine = isObject(agent.response_engine) ? agent.response_engine.type : undefined
  const isPrompt = isObject(agent.retellLlmData) || engine === 'retell-llm' || engine === 'custom-llm'
  if (isPrompt)
    return `holds an agent without a conversation flow (${shown(String(engine ?? 'a prompt'))}): only conversation flows are imported`
  return 'holds no conversation flow: neither an object "conversationFlow", "conversation_flow" or "flow", nor a list "nodes" at its top'
}
