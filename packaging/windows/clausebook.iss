; Inno Setup script: installs for the current user, needs no administrator.
;   iscc /DVersion=0.1.0 /DProgram=build\package\clausebook /DOut=dist packaging\windows\clausebook.iss
; With /DSign=1 the installer is signed by the tool named "clausebook" in Inno Setup's settings.
#ifndef Version
  #error Version is missing; see build.ps1
#endif

[Setup]
AppId={{6B8E1B1E-3C0B-4E0C-9B52-2D6C1B7E5F31}
AppName=Clausebook
AppVersion={#Version}
AppPublisher=The Clausebook authors
DefaultDirName={autopf}\Clausebook
DefaultGroupName=Clausebook
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
PrivilegesRequiredOverridesAllowed=dialog
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
MinVersion=10.0.17763
OutputDir={#Out}
OutputBaseFilename=clausebook-{#Version}-windows-x86_64
SetupIconFile={#SourcePath}\..\..\build\package\clausebook.ico
UninstallDisplayIcon={app}\clausebook.exe
LicenseFile={#SourcePath}\..\..\LICENSE
Compression=lzma2/max
SolidCompression=yes
ChangesAssociations=yes
WizardStyle=modern
#ifdef Sign
SignTool=clausebook
SignedUninstaller=yes
#endif

[Languages]
Name: "en"; MessagesFile: "compiler:Default.isl"
Name: "de"; MessagesFile: "compiler:Languages\German.isl"

[Tasks]
Name: "desktopicon"; Description: "{cm:CreateDesktopIcon}"; Flags: unchecked

[Files]
Source: "{#Program}\*"; DestDir: "{app}"; Flags: ignoreversion recursesubdirs createallsubdirs
Source: "{#Program}\..\documents\licences\*"; DestDir: "{app}\licences"; Flags: ignoreversion recursesubdirs

[Icons]
Name: "{group}\Clausebook"; Filename: "{app}\clausebook.exe"
Name: "{autodesktop}\Clausebook"; Filename: "{app}\clausebook.exe"; Tasks: desktopicon

[Registry]
; "Open with", without taking the association of PDF away from another program.
Root: HKA; Subkey: "Software\Classes\Clausebook.pdf"; ValueType: string; ValueData: "PDF document"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\Clausebook.pdf\shell\open\command"; ValueType: string; ValueData: """{app}\clausebook.exe"" ""%1"""
Root: HKA; Subkey: "Software\Classes\.pdf\OpenWithProgids"; ValueType: string; ValueName: "Clausebook.pdf"; ValueData: ""; Flags: uninsdeletevalue

[Run]
Filename: "{app}\clausebook.exe"; Description: "{cm:LaunchProgram,Clausebook}"; Flags: nowait postinstall skipifsilent

[UninstallDelete]
; Only what the program itself wrote beside its files; libraries and conversations stay.
Type: filesandordirs; Name: "{app}\_internal\__pycache__"
