export { PhoneCall } from './phone-call.ts'
export { loudness, RESEMBLANCE_FLOOR, type Resemblance, resemblance } from './resemblance.ts'
export { type PhoneBehaviour, type PhoneDial, type PhoneOptions, VirtualPhone } from './virtual-phone.ts'
