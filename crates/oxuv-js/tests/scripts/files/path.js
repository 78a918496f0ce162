// Paths of both systems.
process.chdir('/proc');
const path=require('path');
const ps=['','.','..','/','a/','/a','a/../../b','/a/b/../c/./d//e/','.a','a.b.','C:','C:\\a\\..\\..','\\\\srv\\share\\a','\\a','a\\b/c','dir/file.tar.gz'];
for (const [n,p] of [['posix',path.posix],['win32',path.win32]]) {
  for (const a of ps) {
    for (const f of ['normalize','isAbsolute','dirname','basename','extname','parse','resolve']) {
      let r; try { r=JSON.stringify(p[f](a)); } catch(e) { r=e.message; }
      console.log(n,f,JSON.stringify(a),r);
    }
    console.log(n,'fmt',p.format(p.parse(a)), p.basename(a,'.b'), p.basename(a,'e.txt'));
    for (const b of ps) { console.log(n,'2',JSON.stringify([a,b]),p.join(a,b),'|',p.resolve(a,b),'|',p.relative(a,b),'|',p.resolve('C:\\q','D:\\r',a,b)); }
  }
}
for (const f of ['join','resolve','normalize','isAbsolute','dirname','basename','extname','parse','format','relative']) for (const v of [undefined,null,5,{},[]]) { try { console.log(f, path[f](v)); } catch(e) { console.log(f, e.code, e.message); } }
console.log(path===path.posix, path.win32===path.win32.win32, require('path/posix')===path, require('node:path/win32')===path.win32);
console.log(path.format({dir:'/a',base:'b'}),path.format({root:'/',name:'x',ext:'y'}),path.format({dir:'/',root:'/',base:'q'}),path.basename('aaa','aa'),path.basename('file.js','.js'),path.basename('js','js'),path.basename('.js','.js'),path.basename('a/.js','.js'),path.basename('a.js/','.js'),path.basename('dir/a.js/','.js'));
