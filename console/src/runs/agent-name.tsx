import { useAgentNames } from './use-agent-names.ts'

/** The name of an agent; its id as long as, and where, the name is not known. */
export function AgentName({ agentId }: { readonly agentId: string }) {
  const { data } = useAgentNames()
  return <>{data?.agents.find(({ ref }) => ref.id === agentId)?.name ?? agentId}</>
}
