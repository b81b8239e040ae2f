// Which members F5's controllers find for the pools of AS3 ConfigMaps.
export { read, type Controller, type Found, type Objects } from './read.ts';
