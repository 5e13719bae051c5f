export { SimulatedDatabase } from './simulated-database.ts';
