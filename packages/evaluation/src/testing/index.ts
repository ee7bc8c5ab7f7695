export { RealTimeWork, VirtualServices } from '../audio/virtual-services.ts'
export { fixedPlanPairs, mostPairs } from '../gate/sequential-test.ts'
export { wilsonInterval } from '../gate/intervals.ts'
export { GATE_HYPOTHESES, gateFigures } from './gate-figures.ts'
