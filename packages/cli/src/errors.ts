import { errorsOf } from '@parley/kernel'

/** The errors of the `parley` command and of the process that it starts. */
export const CliError = errorsOf({
  demo_failed: { retryable: false, text: 'The call of the demo did not come to its end.' },
  interrupted: { retryable: false, text: 'The command was stopped by a signal.' },
  listen_failed: { retryable: true, text: 'The process cannot listen on the address of a setting.' },
  llm_not_ready: { retryable: false, text: 'The language model of the plan cannot be used now.' },
  model_not_found: { retryable: false, text: 'There is no such language model.' },
  model_not_ready: { retryable: false, text: 'The language model has no API key, or none is ready.' },
  no_answer: { retryable: false, text: 'The service did not answer in time.' },
  nothing_heard: { retryable: false, text: 'The recogniser returned no words for speech.' },
  port_taken: { retryable: true, text: 'Another program listens on the port of a setting.' },
  recogniser_not_found: { retryable: false, text: 'There is no such recogniser.' },
  recogniser_not_ready: { retryable: false, text: 'The recogniser has no API key.' },
  speech_failed: { retryable: true, text: 'A local speech server does not run as it should.' },
  speech_install_failed: { retryable: true, text: 'The local speech servers could not be installed.' },
  stand_in_not_found: { retryable: false, text: 'There is no local stand-in for this service.' },
  stt_not_ready: { retryable: false, text: 'The recogniser of the plan cannot be used now.' },
  tts_not_ready: { retryable: false, text: 'The voice of the plan cannot be used now.' },
  voice_not_found: { retryable: false, text: 'There is no such voice.' },
  voice_not_ready: { retryable: false, text: 'The voice has no API key.' },
})
