/** A request that creates a run: agent and called number. */
interface ExampleRequest {
  /** Base URL of the API. */
  readonly api: string
  readonly key: string
  readonly agentId: string
  /** E.164. */
  readonly to: string
}

/**
 * The lines of `npm start` about the built-in phone: a command for a POSIX shell, on one line, that places a call each time
 * it is run, and the command that follows the run.
 */
export function exampleRequestLines({ api, key, agentId, to }: ExampleRequest): string[] {
  const body = JSON.stringify({ agent_id: agentId, channel: 'phone', mode: 'outbound', to })
  const headers = [`-H 'Authorization: Bearer ${key}'`, `-H "Idempotency-Key: call-$(date +%s)-$$"`]
  return [
    `Place a call. The agent "${agentId}" calls the built-in phone at ${to}, which plays a patient who wants an appointment:`,
    `  curl ${headers.join(' ')} -H 'Content-Type: application/json' -d '${body}' ${api}/api/v1/runs`,
    '',
    'The answer is the run as JSON. Follow the call by the run_id in it:',
    '  npx parley runs follow RUN_ID',
    '',
  ]
}
