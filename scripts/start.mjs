// `npm start`: sets up what is missing, builds if needed, then runs `fairlead up` with the arguments given.
import { pathToFileURL } from 'node:url';
import { build, installPackages, installSystemPackages, requireNode } from './setup.mjs';

requireNode();
installPackages();
installSystemPackages();
const program = await build();
process.argv = [process.argv[0], program, 'up', ...process.argv.slice(2)];
await import(pathToFileURL(program).href);
