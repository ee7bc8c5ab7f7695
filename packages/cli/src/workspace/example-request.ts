/** A request that creates a run: agent and called number. */
interface ExampleRequest {
  /** Base URL of the API. */
  readonly api: string
  readonly key: string
  readonly agentId: string
  /** E.164. */
  readonly to: string
}

/** A command for a POSIX shell, on one line: each time it is run, the agent calls the built-in phone. */
export function exampleRequest({ api, key, agentId, to }: ExampleRequest): string {
  const body = JSON.stringify({ agent_id: agentId, channel: 'phone', mode: 'outbound', to })
  const headers = [`-H 'Authorization: Bearer ${key}'`, `-H "Idempotency-Key: call-$(date +%s)-$$"`]
  return `curl ${headers.join(' ')} -H 'Content-Type: application/json' -d '${body}' ${api}/api/v1/runs`
}

/** What the command of `exampleRequest` does, for the output of `npm start`. */
export function exampleRequestLines({ agentId, to }: Pick<ExampleRequest, 'agentId' | 'to'>): string[] {
  return [
    `The curl command above places a call: the agent "${agentId}" calls the built-in phone at ${to}, which plays a patient who wants an appointment.`,
    'The answer is the run as JSON. Follow the call by the run_id in it:',
    '  npx parley runs follow RUN_ID',
    '',
  ]
}
